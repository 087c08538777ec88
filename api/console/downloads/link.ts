// GET /files/:token: the PDF behind a link, for every client that has the link, until it expires.

import { ApiError } from '../../../common/contract/errors.ts';
import { markup } from '../../../common/contract/markup.ts';
import type { Log } from '../../../common/log.ts';
import type { ByteBudget } from '../../http/byte-budget.ts';
import { ClientClosed } from '../../http/client-disconnect.ts';
import { LINK_ROUTE } from '../../http/link-path.ts';
import { sendPieces } from '../../http/send-pieces.ts';
import type { Context, Middleware, Route } from '../../http/state.ts';
import type { StoredPdfDocument } from '../../store/store.ts';
import { sendPage } from '../html/page.ts';
import { createAccountShares } from './account-shares.ts';
import { CHUNK_BYTES, type PdfStore } from './pdf-store.ts';

/**
 * The share of the memory for renders that downloads may hold: enough for dozens at a time, too
 * little to delay renders.
 */
export const LINKS_SHARE = 1 / 16;
/** The piece that is read and the one that is sent. */
const HELD_BYTES = 2 * CHUNK_BYTES;

const unknown = () =>
  new ApiError('not_found', 'There is no PDF behind this link. Check that the link is complete.');
const gone = () =>
  new ApiError(
    'gone',
    'The link has ended: PDFs are kept for a short time only. Render the document again.',
  );
const busy = () =>
  new ApiError('unavailable', 'Too many PDFs are being downloaded at the moment. Try again.', {
    retryAfterS: 2,
  });

function describe(ctx: Context, pdf: StoredPdfDocument): void {
  // `attachment`: with the policy below browsers show no PDF, and from the dashboard's origin none
  // should be shown. It sets the type by the name.
  ctx.attachment(pdf.filename, {
    fallback: pdf.filename
      .normalize('NFKD')
      .replace(/\p{M}/gu, '')
      .replace(/[^\x20-\x7e]/g, '_'),
  });
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

async function* startingWith(
  first: IteratorResult<Buffer, void>,
  rest: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  if (!first.done) yield first.value;
  yield* rest;
}

const TITLES: Partial<Record<ApiError['code'], string>> = {
  gone: 'The link has ended',
  not_found: 'There is no PDF here',
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
    const detail = markup`<p class="hint">Request id: ${ctx.state.requestId}</p>`;
    sendPage(
      ctx,
      { title: TITLES[code] ?? 'The PDF cannot be had now', error: message, body: detail },
      status,
    );
    // The address contains the token.
    ctx.set('Referrer-Policy', 'no-referrer');
  }
};

interface LinkDeps {
  pdfs: PdfStore;
  /** Of the whole process. */
  budget: ByteBudget;
  log: Log;
}

export function linkRoute({ pdfs, budget, log }: LinkDeps): Route {
  const shares = createAccountShares(budget, LINKS_SHARE, HELD_BYTES);

  const handle: Middleware = async ctx => {
    const { token } = (ctx as Context & { params: { token: string } }).params;
    const found = await pdfs.byToken(token);
    if (found === undefined) throw unknown();
    if (found === 'gone') throw gone();
    if (ctx.method === 'HEAD') return describe(ctx, found);
    if (!shares.take(ctx, found.metadata.account, HELD_BYTES)) throw busy();
    const chunks = pdfs.read(found);
    // Before the answer begins, so that a database failure can still be answered.
    const first = await chunks.next();
    describe(ctx, found);
    ctx.respond = false;
    try {
      await sendPieces(ctx.res, startingWith(first, chunks));
    } catch (error) {
      if (!(error instanceof ClientClosed))
        log.warn({ reason: (error as Error).message }, 'a stored PDF could not be sent completely');
      // The answer has begun: only a broken connection can report the failure.
      throw new ClientClosed();
    }
  };

  return { method: 'get', path: LINK_ROUTE, handle: [errorPage, handle] };
}
