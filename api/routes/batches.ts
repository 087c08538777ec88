// The routes of batches of asynchronous renders: /v1/batches.
import { ASYNC_RENDER_STATUSES } from '../../common/contract/async-renders.ts';
import { BATCH_TYPES, type Batch } from '../../common/contract/batches.ts';
import { ASYNC_OPERATIONS } from '../../common/contract/openapi-async.ts';
import type { KeyUse } from '../accounts/accepted-keys.ts';
import type { ProgramAudit } from '../history/program-audit.ts';
import {
  BATCH_TIMES,
  type BodyHints,
  checkBodyHeaders,
  checkType,
  receiveBounds,
  sendContinue,
} from '../http/body.ts';
import { accountHolder } from '../http/byte-budget.ts';
import { bearer, boundRequests, identifiedBy } from '../http/caller.ts';
import { checked } from '../http/checked.ts';
import { receiveBytes } from '../http/collect-bytes.ts';
import { ClientClosed } from '../http/errors.ts';
import type { Context, Middleware, Route } from '../http/state.ts';
import type { Batches } from '../jobs/batches.ts';
import { isFinalStatus } from '../jobs/job-status.ts';
import type { BatchState } from '../jobs/staged-batch.ts';
import type { AsyncRouteParts } from './async-renders.ts';
import { BatchBody } from './batch-body.ts';
import {
  noParameters,
  orDatabaseUnavailable,
  parseSubmission,
  pathId,
  RETRY_AFTER_S,
  routeOf,
} from './submission.ts';

export interface BatchRoutes {
  batches: Batches;
  maxTtlMs: number;
  maxBatchBytes: number;
  /** Of one render request. */
  maxRequestBytes: number;
  audit: Pick<ProgramAudit, 'batchCanceled'>;
}

const HINTS: BodyHints = {
  missing: 'Send one render request per line, or a JSON array of them.',
  tooLarge: 'Split it into smaller batches.',
};

export function shownBatch(
  { _id, createdAt, total, counts }: BatchState,
  publicUrl: string,
): Batch {
  const statuses = ASYNC_RENDER_STATUSES.map(status => [status, counts.get(status) ?? 0] as const);
  return {
    id: _id,
    created_at: createdAt.toISOString(),
    total,
    counts: Object.fromEntries(statuses) as Batch['counts'],
    links: {
      self: `${publicUrl}/v1/batches/${_id}`,
      renders: `${publicUrl}/v1/renders?batch=${_id}`,
    },
  };
}

export function batchRoutes(
  { batches, maxTtlMs, maxBatchBytes, maxRequestBytes, audit }: BatchRoutes,
  { keys, requests, trustedProxies, budget, rules, publicUrl }: AsyncRouteParts,
): Route[] {
  const bound = boundRequests(requests, ({ state }) => state.accepted);
  const identified = identifiedBy(keys, trustedProxies, 'submit_render');
  const guarded = (use: KeyUse, handle: Middleware): Middleware[] => [
    orDatabaseUnavailable,
    bearer(keys, trustedProxies, use),
    bound,
    handle,
  ];
  const answer = (ctx: Context, batch: BatchState) => {
    const isFinished = [...batch.counts.keys()].every(isFinalStatus);
    if (!isFinished) ctx.set('Retry-After', String(RETRY_AFTER_S));
    ctx.set('Cache-Control', 'no-store');
    ctx.body = shownBatch(batch, publicUrl);
  };
  const bounds = receiveBounds({ maxBytes: maxBatchBytes, ...BATCH_TIMES, hints: HINTS });

  const submit: Middleware = async ctx => {
    const { req, res, state } = ctx;
    const { accepted } = state;
    checked(noParameters, { ...ctx.query }, 'parameter');
    checkBodyHeaders(req.headers, maxBatchBytes, HINTS, BATCH_TYPES);
    const staged = await batches.begin(accepted);
    const reservation = budget.open(accountHolder(accepted.accountId, accepted.parallel));
    res.once('close', reservation.close);
    if (req.socket.destroyed) throw new ClientClosed();
    sendContinue(ctx);
    const isArray = checkType(req.headers['content-type'], BATCH_TYPES) === 'application/json';
    const items = new BatchBody(isArray, {
      staged,
      reservation,
      maxItemBytes: maxRequestBytes,
      maxBytes: maxBatchBytes,
      parse: item => parseSubmission(item, { ...rules, maxTtlMs }, accepted),
    });
    try {
      await receiveBytes(req, bounds, piece => items.take(piece));
      await items.end();
      // The key may have been revoked meanwhile.
      await identified(ctx);
      const batch = await staged.publish();
      answer(ctx, batch);
      ctx.set('Location', `${publicUrl}/v1/batches/${batch._id}`);
    } catch (error) {
      await staged.discard();
      throw error;
    } finally {
      reservation.close();
    }
    ctx.status = 202;
  };

  const read: Middleware = async ctx => {
    checked(noParameters, { ...ctx.query }, 'parameter');
    answer(ctx, await batches.find(ctx.state.accepted.accountId, pathId(ctx)));
  };

  const cancel: Middleware = async ctx => {
    checked(noParameters, { ...ctx.query }, 'parameter');
    const { accepted } = ctx.state;
    const id = pathId(ctx);
    const record = (canceled: number) => audit.batchCanceled(accepted, id, canceled);
    answer(ctx, await batches.cancel(accepted.accountId, id, record));
  };

  const { submitBatch, getBatch, cancelBatch } = ASYNC_OPERATIONS;
  return [
    { ...routeOf(submitBatch), handle: guarded('submit_render', submit) },
    { ...routeOf(getBatch), handle: guarded('read_render', read) },
    { ...routeOf(cancelBatch), handle: guarded('manage_render', cancel) },
  ];
}
