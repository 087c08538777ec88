// The routes of asynchronous renders: /v1/renders.
import type { Network } from '../../common/addresses.ts';
import {
  type AsyncRender,
  asyncRenderListQuerySchema,
  asyncRenderWaitQuerySchema,
  parseTtl,
} from '../../common/contract/async-renders.ts';
import { invalid } from '../../common/contract/errors.ts';
import { ASYNC_OPERATIONS } from '../../common/contract/openapi-async.ts';
import {
  type InstallationRules,
  parseRenderRequest,
} from '../../common/contract/render-request.ts';
import { parseDurationMs } from '../../common/units.ts';
import type { AcceptedKeys, KeyUse } from '../accounts/accepted-keys.ts';
import { orUnavailable } from '../accounts/account-errors.ts';
import type { AccountRequests } from '../accounts/account-requests.ts';
import { OpenCounts } from '../accounts/open-counts.ts';
import { type BodyLimits, jsonBody } from '../http/body.ts';
import { accountHolder, type ByteBudget } from '../http/byte-budget.ts';
import { bearer, boundRequests } from '../http/caller.ts';
import { checked, strict } from '../http/checked.ts';
import { untilClientDisconnects } from '../http/errors.ts';
import type { Context, Middleware, Route } from '../http/state.ts';
import { isFinalStatus } from '../jobs/job-status.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { JobDocument } from '../store/store.ts';
import type { SendJobPdf } from './async-download.ts';

export interface AsyncRenderRoutes {
  jobs: Jobs;
  /** The longest `ttl`. */
  maxTtlMs: number;
  sendPdf: SendJobPdf;
}

interface Parts {
  keys: AcceptedKeys;
  requests: AccountRequests;
  trustedProxies: readonly Network[];
  body: BodyLimits;
  budget: ByteBudget;
  rules: InstallationRules;
  publicUrl: string;
}

/** Of an unfinished render: most end within seconds once they run. */
const RETRY_AFTER_S = 2;
const LISTED = 20;
/** Long polls of one account in one process; further ones are answered at once. */
export const MAX_LONG_POLLS = 32;

const noParameters = strict(undefined);
const listQuery = asyncRenderListQuerySchema.strict();
const waitQuery = asyncRenderWaitQuerySchema.strict();

const idOf = (ctx: Context) => (ctx as Context & { params: { id: string } }).params.id;

/** Without the request, which is never shown. */
export function shownJob(job: JobDocument, publicUrl: string): AsyncRender {
  const self = `${publicUrl}/v1/renders/${job._id}`;
  const { reference, pages, pdf, usage, error } = job;
  return {
    id: job._id,
    status: job.status,
    created_at: job.createdAt.toISOString(),
    expires_at: job.expiresAt.toISOString(),
    ...(job.startedAt && { started_at: job.startedAt.toISOString() }),
    ...(job.endedAt && { ended_at: job.endedAt.toISOString() }),
    attempts: job.attempts,
    sandbox: job.sandbox,
    ...(reference !== undefined && { reference }),
    ...(pages !== undefined && { pages }),
    ...(pdf && { bytes: pdf.bytes }),
    ...(usage !== undefined && { usage_count: usage }),
    ...(error && { error }),
    links: { self, ...(pdf && { pdf: `${self}/pdf` }) },
  };
}

/** Splits the body into `ttl` and the request. */
function submissionOf(body: unknown, maxTtlMs: number): { ttlMs: number; request: unknown } {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw invalid('The body must be a JSON object.');
  const { ttl, ...request } = body as Record<string, unknown>;
  return { ttlMs: parseTtl(ttl, maxTtlMs), request };
}

const mapped: Middleware = async (_ctx, next) => {
  try {
    await next();
  } catch (error) {
    throw orUnavailable(error);
  }
};

/** `bound`: of the open requests of the account. A slow download is not among them. */
const download =
  ({ jobs, sendPdf }: AsyncRenderRoutes, bound: Middleware): Middleware =>
  async ctx => {
    checked(noParameters, { ...ctx.query }, 'parameter');
    const { accountId } = ctx.state.accepted;
    let found!: Awaited<ReturnType<Jobs['pdf']>>;
    await bound(ctx, async () => {
      found = await jobs.pdf(accountId, idOf(ctx));
    });
    await sendPdf(ctx, found);
  };

export function asyncRenderRoutes(
  parts: AsyncRenderRoutes,
  { keys, requests, trustedProxies, body, budget, rules, publicUrl }: Parts,
): Route[] {
  const { jobs, maxTtlMs } = parts;
  const bound = boundRequests(requests, ({ state }) => state.accepted);
  const identified = (use: KeyUse): Middleware[] => [mapped, bearer(keys, trustedProxies, use)];
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
    const { ttlMs, request: given } = submissionOf(ctx.state.body, maxTtlMs);
    ctx.state.body = undefined;
    const parsed = parseRenderRequest(given, { ...rules, intranet: accepted.intranet });
    const request = accepted.test ? { ...parsed, sandbox: true } : parsed;
    const job = await jobs.submit(accepted, request, ttlMs);
    answer(ctx, job);
    ctx.status = 202;
    ctx.set('Location', `${publicUrl}/v1/renders/${job._id}`);
  };

  const read: Middleware = async ctx => {
    const { wait = '0' } = checked(waitQuery, { ...ctx.query }, 'parameter');
    const { accountId } = ctx.state.accepted;
    let job!: JobDocument;
    const look = async () => {
      job = await jobs.find(accountId, idOf(ctx));
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
    answer(ctx, await jobs.cancel(ctx.state.accepted.accountId, idOf(ctx)));
  };

  const receive = jsonBody(body, budget, ({ state }) =>
    accountHolder(state.accepted.accountId, state.accepted.parallel),
  );
  const { submitRender, getRender, getRenderPdf, cancelRender, listRenders } = ASYNC_OPERATIONS;
  return [
    { ...route(submitRender), handle: guarded('submit_render', receive, submit) },
    { ...route(listRenders), handle: guarded('read_render', list) },
    { ...route(getRender), handle: [...identified('read_render'), read] },
    { ...route(cancelRender), handle: guarded('manage_render', cancel) },
    {
      ...route(getRenderPdf),
      handle: [...identified('manage_render'), download(parts, bound)],
    },
  ];
}

/** OpenAPI writes `{id}`, the router `:id`. */
const route = ({ method, path }: { method: Route['method']; path: string }) => ({
  method,
  path: path.replace(/\{(\w+)\}/g, ':$1'),
});
