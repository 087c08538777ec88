// GET /files/:token: the PDF behind a link, for every client that has the link, until it expires.
import { ApiError } from '../../../common/contract/errors.ts';
import { markup } from '../../../common/contract/markup.ts';
import type { Log } from '../../../common/log.ts';
import { LINK_ROUTE } from '../../http/access-log.ts';
import { createAccountShares } from '../../http/account-shares.ts';
import type { ByteBudget } from '../../http/byte-budget.ts';
import { sendStoredPdf } from '../../http/send-pieces.ts';
import type { Context, Middleware, Route } from '../../http/state.ts';
import { asciiFilename } from '../../pdf/filename.ts';
import type { StoredPdfDocument } from '../../store/store.ts';
import { CHUNK_BYTES } from '../../store/stored-chunks.ts';
import { sendPage } from '../html/page.ts';
import type { PdfStore } from './pdf-store.ts';

/** The share of the byte budget for downloads: enough for dozens, too little to delay renders. */
export const LINKS_SHARE = 1 / 16;
/** The chunk that is read and the one that is sent. */
const HELD_BYTES = 2 * CHUNK_BYTES;

const notFound = () =>
  new ApiError('not_found', 'No PDF exists at this link. Check that the link is complete.');
const gone = () => new ApiError('gone', 'This link has expired. Render the document again.');
const busy = () =>
  new ApiError('unavailable', 'Too many downloads at once. Try again in 2 s.', { retryAfterS: 2 });

function describe(ctx: Context, pdf: StoredPdfDocument): void {
  // `attachment`: no PDF should open in the dashboard's origin, and under the policy below browsers
  // show none. Koa also sets the type by the name.
  ctx.attachment(pdf.filename, { fallback: asciiFilename(pdf.filename) });
  ctx.type = 'application/pdf';
  ctx.set('Accept-Ranges', 'none');
  ctx.set('Cache-Control', 'private, no-store');
  ctx.set('Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'; sandbox");
  ctx.set('Cross-Origin-Resource-Policy', 'same-origin');
  ctx.set('Referrer-Policy', 'no-referrer');
  ctx.set('X-Robots-Tag', 'noindex');
  ctx.status = 200;
  ctx.length = pdf.length;
}

const TITLES: Partial<Record<ApiError['code'], string>> = {
  gone: 'Link expired',
  not_found: 'PDF not found',
};

/** Clients that accept anything get JSON. */
const wantsPage = (ctx: Context) => ctx.accepts('json', 'html') === 'html';

/** Shows an error as a page when a browser asks for one. */
const errorPage: Middleware = async (ctx, next) => {
  try {
    await next();
  } catch (error) {
    if (!(error instanceof ApiError) || !wantsPage(ctx)) throw error;
    const { code, status, message, headers } = error;
    ctx.state.code = code;
    ctx.set(headers);
    const detail = markup`<p class="hint">Request ID: ${ctx.state.requestId}</p>`;
    sendPage(
      ctx,
      { title: TITLES[code] ?? 'The PDF is temporarily unavailable', error: message, body: detail },
      status,
    );
    // The address contains the token.
    ctx.set('Referrer-Policy', 'no-referrer');
  }
};

interface LinkDeps {
  pdfs: PdfStore;
  /** The byte budget of the process. */
  budget: ByteBudget;
  log: Log;
}

export function linkRoute({ pdfs, budget, log }: LinkDeps): Route {
  const shares = createAccountShares(budget, LINKS_SHARE, HELD_BYTES);

  const handle: Middleware = async ctx => {
    const { token } = (ctx as Context & { params: { token: string } }).params;
    const found = await pdfs.byToken(token);
    if (found === undefined) throw notFound();
    if (found === 'gone') throw gone();
    if (ctx.method === 'HEAD') return describe(ctx, found);
    if (!shares.reserve(ctx, found.metadata.account, HELD_BYTES)) throw busy();
    await sendStoredPdf(ctx, pdfs.read(found), () => describe(ctx, found), log);
  };

  return { method: 'get', path: LINK_ROUTE, handle: [errorPage, handle] };
}
