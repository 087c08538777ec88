// Sends the PDFs of asynchronous renders. Owns their share of the byte budget, which API keys and
// the dashboard use together.
import { ApiError } from '../../common/contract/errors.ts';
import type { Log } from '../../common/log.ts';
import { createAccountShares } from '../http/account-shares.ts';
import type { ByteBudget } from '../http/byte-budget.ts';
import { sendStoredPdf } from '../http/send-pieces.ts';
import type { Context } from '../http/state.ts';
import type { Jobs } from '../jobs/jobs.ts';
import { CHUNK_BYTES } from '../store/stored-chunks.ts';
import { setPdfHeaders } from './render.ts';

/** The share of the byte budget for downloads. */
export const DOWNLOADS_SHARE = 1 / 16;
/** The chunk that is read, its decrypted bytes, and the one that is sent. */
const HELD_BYTES = 3 * CHUNK_BYTES;

const busy = () =>
  new ApiError('unavailable', 'Too many downloads at once. Try again in 2 s.', { retryAfterS: 2 });

/** Throws ApiError `unavailable` when the account has too many slow downloads. */
export type SendJobPdf = (ctx: Context, found: Awaited<ReturnType<Jobs['pdf']>>) => Promise<void>;

export function createSendJobPdf(budget: ByteBudget, log: Log): SendJobPdf {
  const shares = createAccountShares(budget, DOWNLOADS_SHARE, HELD_BYTES);
  return async (ctx, { job, bytes, pieces }) => {
    if (!shares.reserve(ctx, job.account, HELD_BYTES)) throw busy();
    const describe = () => {
      setPdfHeaders(ctx, job.filename);
      if (job.pages !== undefined) ctx.set('X-Pdf-Pages', String(job.pages));
      if (job.sandbox) ctx.set('X-Sandbox', 'true');
      ctx.status = 200;
      ctx.length = bytes;
    };
    await sendStoredPdf(ctx, pieces, describe, log);
  };
}
