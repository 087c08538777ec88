// The error for an installation with a localhost URL that was opened under another host name, where
// browsers drop its cookies and sign-in cannot work.
import { literalAddress } from '../../../common/addresses.ts';
import type { Context } from '../../http/state.ts';

const isLocal = (hostname: string) =>
  hostname === 'localhost' ||
  hostname.endsWith('.localhost') ||
  hostname === '[::1]' ||
  (literalAddress(hostname)?.startsWith('127.') ?? false);

/** Only for localhost: with any other public URL a proxy may rewrite the header `Host`. */
export function otherHost(ctx: Pick<Context, 'get'>, publicUrl: string): string | undefined {
  const opened = `http://${ctx.get('Host')}`;
  const known = new URL(publicUrl);
  if (!isLocal(known.hostname) || !URL.canParse(opened) || isLocal(new URL(opened).hostname))
    return undefined;
  return `Sign-in only works at ${known.origin}. To use another host name, set PRESSROOM_PUBLIC_URL, preferably with https.`;
}
