// Says why signing in cannot work where an installation that is set up for localhost was opened by
// another name: browsers drop its cookies there.
import { literalAddress } from '../../../common/addresses.ts';
import type { Context } from '../../http/state.ts';

const isLocal = (hostname: string) =>
  hostname === 'localhost' ||
  hostname.endsWith('.localhost') ||
  hostname === '[::1]' ||
  (literalAddress(hostname)?.startsWith('127.') ?? false);

/**
 * Only for localhost: with any other public URL a proxy in between may change what it is called.
 */
export function otherHost(ctx: Pick<Context, 'get'>, publicUrl: string): string | undefined {
  const opened = `http://${ctx.get('Host')}`;
  const known = new URL(publicUrl);
  if (!isLocal(known.hostname) || !URL.canParse(opened) || isLocal(new URL(opened).hostname))
    return undefined;
  return `This installation knows itself as ${known.origin}, so signing in works there alone. To open it by this name, set PRESSROOM_PUBLIC_URL, best with https.`;
}
