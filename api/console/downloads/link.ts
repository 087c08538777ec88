// GET /files/:token: the PDF behind a link. Whoever has the link may have the PDF, until it ends; nothing else is served from here.

import { ApiError } from '../../../common/contract/errors.ts';
import type { Log } from '../../../common/log.ts';
import type { ByteBudget } from '../../http/byte-budget.ts';
import { LINK_ROUTE } from '../../http/link-path.ts';
import { sendPieces } from '../../http/send-pieces.ts';
import { ClientClosed, type Context, type Middleware, type Route } from '../../http/state.ts';
import type { StoredPdfDocument } from '../../store/store.ts';
import { createAccountShares } from './account-shares.ts';
import { linkPage } from './link-page.ts';
import { CHUNK_BYTES, type PdfStore } from './pdf-store.ts';

/** What links may hold of the memory for renders: enough for dozens of downloads at a time, too little for strangers with a link to be in anybody's way. */
export const LINKS_SHARE = 1 / 16;
/** The piece that is read and the one that is sent. */
const HELD_BYTES = 2 * CHUNK_BYTES;

const unknown = () => new ApiError('not_found', 'There is no PDF behind this link. Check that the link is complete.');
const gone = () => new ApiError('gone', 'The link has ended: PDFs are kept for a short time only. Render the document again.');
const busy = () => new ApiError('unavailable', 'Too many PDFs are being downloaded at the moment. Try again.', { retryAfterS: 2 });

function describe(ctx: Context, kept: StoredPdfDocument): void {
  // `attachment`: with the policy below browsers show no PDF, and from the dashboard's origin none should be shown. It sets the type by the name.
  ctx.attachment(kept.filename, {
    fallback: kept.filename
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
  ctx.length = kept.length;
}

async function* startingWith(first: IteratorResult<Buffer, void>, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  if (!first.done) yield first.value;
  yield* rest;
}

interface LinkDeps {
  kept: PdfStore;
  /** Of the whole process. */
  budget: ByteBudget;
  log: Log;
}

export function linkRoute({ kept, budget, log }: LinkDeps): Route {
  const shares = createAccountShares(budget, LINKS_SHARE, HELD_BYTES);

  const handle: Middleware = async ctx => {
    const { token } = (ctx as Context & { params: { token: string } }).params;
    const found = await kept.byToken(token);
    if (found === undefined) throw unknown();
    if (found === 'gone') throw gone();
    if (ctx.method === 'HEAD') return describe(ctx, found);
    if (!shares.take(ctx, found.metadata.account, HELD_BYTES)) throw busy();
    const pieces = kept.read(found);
    // Before the answer begins, so that a database that is away can still be told of.
    const first = await pieces.next();
    describe(ctx, found);
    ctx.respond = false;
    try {
      await sendPieces(ctx.res, startingWith(first, pieces));
    } catch (error) {
      if (!(error instanceof ClientClosed)) log.warn({ reason: (error as Error).message }, 'a kept PDF could not be sent as a whole');
      // The answer has begun: a connection that breaks is all that can tell of it.
      throw new ClientClosed();
    }
  };

  return { method: 'get', path: LINK_ROUTE, handle: [linkPage, handle] };
}
