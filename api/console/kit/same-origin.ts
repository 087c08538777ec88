// Refuses what another site makes a browser send: by Fetch Metadata, and by Origin where a browser
// sends none. Pure but for reading headers.
import { ApiError } from '../../../common/contract/errors.ts';
import type { Context, Middleware } from '../../http/state.ts';

const SAFE = new Set(['GET', 'HEAD']);

const foreign = (publicUrl: string) =>
  new ApiError(
    'forbidden',
    `The call came from another site. Open the dashboard at ${publicUrl}/app and try again there.`,
  );

/**
 * True for what our own pages or no page at all sent. Browsers send `Sec-Fetch-Site` to https and
 * to localhost, and `Origin` with every call that is not a plain reading; a call with neither comes
 * from no browser, and carries the cookie because somebody put it there.
 * (https://www.w3.org/TR/fetch-metadata/, https://web.dev/articles/fetch-metadata)
 */
export function isSameOrigin(
  ctx: Context,
  publicOrigin: string,
  { navigation }: { navigation: boolean },
): boolean {
  const site = ctx.get('Sec-Fetch-Site');
  if (site === 'same-origin') return true;
  // Typed into the address bar, or a link from elsewhere: good for reading a page, not for the API.
  if (site !== '') return SAFE.has(ctx.method) && (navigation || site === 'none');
  const origin = ctx.get('Origin');
  return origin === '' || origin === publicOrigin;
}

/**
 * `navigation`: pages, which may be opened from anywhere; what they change must still come from our
 * own.
 */
export const sameOrigin = (
  publicUrl: string,
  { navigation }: { navigation: boolean },
): Middleware => {
  const { origin } = new URL(publicUrl);
  return (ctx, next) => {
    if (!isSameOrigin(ctx, origin, { navigation })) throw foreign(publicUrl);
    return next();
  };
};
