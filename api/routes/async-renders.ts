// The routes of asynchronous renders: /v1/renders.
import type { Network } from '../../common/addresses.ts';
import {
  type AsyncRender,
  asyncRenderListQuerySchema,
  asyncRenderWaitQuerySchema,
} from '../../common/contract/async-renders.ts';
import { ASYNC_OPERATIONS } from '../../common/contract/openapi-async.ts';
import type { InstallationRules } from '../../common/contract/render-request.ts';
import { parseDurationMs } from '../../common/units.ts';
import type { AcceptedKeys, KeyUse } from '../accounts/accepted-keys.ts';
import type { AccountRequests } from '../accounts/account-requests.ts';
import { OpenCounts } from '../accounts/open-counts.ts';
import type { ProgramAudit } from '../history/program-audit.ts';
import { type BodyLimits, jsonBody } from '../http/body.ts';
import { accountHolder, type ByteBudget } from '../http/byte-budget.ts';
import { bearer, boundRequests } from '../http/caller.ts';
import { checked } from '../http/checked.ts';
import { untilClientDisconnects } from '../http/errors.ts';
import type { Context, Middleware, Route } from '../http/state.ts';
import { attemptsOf } from '../jobs/attempt-log.ts';
import { isFinalStatus } from '../jobs/job-status.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { JobDocument } from '../store/store.ts';
import type { SendJobPdf } from './async-download.ts';
import {
  noParameters,
  orDatabaseUnavailable,
  parseSubmission,
  pathId,
  RETRY_AFTER_S,
  routeOf,
} from './submission.ts';

export interface AsyncRenderRoutes {
  jobs: Jobs;
  /** The longest `ttl`. */
  maxTtlMs: number;
  /** The largest body of which a render can ever run. */
  maxRequestBytes: number;
  sendPdf: SendJobPdf;
  audit: Pick<ProgramAudit, 'renderCanceled'>;
}

export interface AsyncRouteParts {
  keys: AcceptedKeys;
  requests: AccountRequests;
  trustedProxies: readonly Network[];
  body: BodyLimits;
  budget: ByteBudget;
  rules: InstallationRules;
  publicUrl: string;
}

const LISTED = 20;
/** Long polls of one account in one process; further ones are answered at once. */
export const MAX_LONG_POLLS = 32;

const listQuery = asyncRenderListQuerySchema.strict();
const waitQuery = asyncRenderWaitQuerySchema.strict();

/** Without the request, which is never shown. */
export function shownJob(job: JobDocument, publicUrl: string): AsyncRender {
  const self = `${publicUrl}/v1/renders/${job._id}`;
  const { reference, batch, pages, pdf, usage, error } = job;
  return {
    id: job._id,
    status: job.status,
    created_at: job.createdAt.toISOString(),
    expires_at: job.expiresAt.toISOString(),
    ...(job.startedAt && { started_at: job.startedAt.toISOString() }),
    ...(job.endedAt && { ended_at: job.endedAt.toISOString() }),
    attempts: attemptsOf(job),
    sandbox: job.sandbox,
    ...(reference !== undefined && { reference }),
    ...(batch && { batch }),
    ...(pages !== undefined && { pages }),
    ...(pdf && { bytes: pdf.bytes }),
    ...(usage !== undefined && { usage_count: usage }),
    ...(error && { error }),
    links: { self, ...(pdf && { pdf: `${self}/pdf` }) },
  };
}

/** `bound`: of the open requests of the account. A slow download is not among them. */
const download =
  ({ jobs, sendPdf }: AsyncRenderRoutes, bound: Middleware): Middleware =>
  async ctx => {
    checked(noParameters, { ...ctx.query }, 'parameter');
    const { accountId } = ctx.state.accepted;
    let found!: Awaited<ReturnType<Jobs['pdf']>>;
    await bound(ctx, async () => {
      found = await jobs.pdf(accountId, pathId(ctx));
    });
    await sendPdf(ctx, found);
  };

export function asyncRenderRoutes(
  parts: AsyncRenderRoutes,
  { keys, requests, trustedProxies, body, budget, rules, publicUrl }: AsyncRouteParts,
): Route[] {
  const { jobs, maxTtlMs, maxRequestBytes: maxBytes, audit } = parts;
  const bound = boundRequests(requests, ({ state }) => state.accepted);
  const identified = (use: KeyUse): Middleware[] => [
    orDatabaseUnavailable,
    bearer(keys, trustedProxies, use),
  ];
  const guarded = (use: KeyUse, ...handle: Middleware[]): Middleware[] => [
    ...identified(use),
    bound,
    ...handle,
  ];
  const answer = (ctx: Context, job: JobDocument) => {
    if (!isFinalStatus(job.status)) ctx.set('Retry-After', String(RETRY_AFTER_S));
    ctx.set('Cache-Control', 'no-store');
    ctx.body = shownJob(job, publicUrl);
  };
  const longPolls = new OpenCounts();

  const submit: Middleware = async ctx => {
    const { accepted } = ctx.state;
    const submission = parseSubmission(ctx.state.body, { ...rules, maxTtlMs }, accepted);
    ctx.state.body = undefined;
    const job = await jobs.submit(accepted, submission);
    answer(ctx, job);
    ctx.status = 202;
    ctx.set('Location', `${publicUrl}/v1/renders/${job._id}`);
  };

  const read: Middleware = async ctx => {
    const { wait = '0' } = checked(waitQuery, { ...ctx.query }, 'parameter');
    const { accountId } = ctx.state.accepted;
    let job!: JobDocument;
    const look = async () => {
      job = await jobs.find(accountId, pathId(ctx));
    };
    await bound(ctx, look);
    const waitMs = isFinalStatus(job.status) ? 0 : parseDurationMs(wait)!;
    // Not among the open requests of the account, of which synchronous renders need some.
    if (waitMs > 0 && longPolls.of(accountId) < MAX_LONG_POLLS) {
      const endPoll = longPolls.enter(accountId);
      await untilClientDisconnects(ctx, signal => jobs.untilEnd(job, waitMs, signal)).finally(
        endPoll,
      );
      await look();
    }
    answer(ctx, job);
  };

  const list: Middleware = async ctx => {
    const { limit = LISTED, ...query } = checked(listQuery, { ...ctx.query }, 'parameter');
    const { items, next } = await jobs.list(ctx.state.accepted.accountId, { ...query, limit });
    ctx.set('Cache-Control', 'no-store');
    ctx.body = { items: items.map(job => shownJob(job, publicUrl)), next };
  };

  const cancel: Middleware = async ctx => {
    checked(noParameters, { ...ctx.query }, 'parameter');
    const { accepted } = ctx.state;
    const record = () => audit.renderCanceled(accepted);
    answer(ctx, await jobs.cancel(accepted.accountId, pathId(ctx), record));
  };

  const receive = jsonBody({ ...body, maxBytes }, budget, ({ state }) =>
    accountHolder(state.accepted.accountId, state.accepted.parallel),
  );
  const { submitRender, getRender, getRenderPdf, cancelRender, listRenders } = ASYNC_OPERATIONS;
  return [
    { ...routeOf(submitRender), handle: guarded('submit_render', receive, submit) },
    { ...routeOf(listRenders), handle: guarded('read_render', list) },
    { ...routeOf(getRender), handle: [...identified('read_render'), read] },
    { ...routeOf(cancelRender), handle: guarded('manage_render', cancel) },
    {
      ...routeOf(getRenderPdf),
      handle: [...identified('manage_render'), download(parts, bound)],
    },
  ];
}
