// Rejects cross-site requests by Fetch Metadata, or by Origin where a browser does not send it.
import { ApiError } from '../../../common/contract/errors.ts';
import type { Context, Middleware } from '../../http/state.ts';

const SAFE = new Set(['GET', 'HEAD']);

/** `navigation`: allows GET from other sites, for pages. Other methods stay same-origin. */
export function sameOrigin(publicUrl: string, { navigation }: { navigation: boolean }): Middleware {
  const publicOrigin = new URL(publicUrl).origin;

  /**
   * True for requests of our own pages, and for requests without a page. Browsers send
   * `Sec-Fetch-Site` to https and to localhost, and `Origin` with every request that is not a GET
   * or HEAD; a request with neither does not come from a browser.
   * (https://www.w3.org/TR/fetch-metadata/, https://web.dev/articles/fetch-metadata)
   */
  function isSameOrigin(ctx: Context): boolean {
    const site = ctx.get('Sec-Fetch-Site');
    if (site === 'same-origin') return true;
    // Typed into the address bar, or a link on another site: allowed for pages, not for the API.
    if (site !== '') return SAFE.has(ctx.method) && (navigation || site === 'none');
    const origin = ctx.get('Origin');
    return origin === '' || origin === publicOrigin;
  }

  return (ctx, next) => {
    if (isSameOrigin(ctx)) return next();
    throw new ApiError(
      'forbidden',
      `Cross-site request blocked. Open the dashboard at ${publicUrl}/app and try again there.`,
    );
  };
}
