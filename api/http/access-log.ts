// What is recorded of each request: its id, one log line, one count. The line may contain only what
// the schema below lists: never a query, a header, a body, a key or a message made of them.
import { randomUUIDv7 } from 'node:crypto';
import { z } from 'zod';
import {
  type ErrorCode,
  RENDER_FAILED_REASONS,
  type RenderFailedReason,
  STATUS,
} from '../../common/contract/errors.ts';
import { MAX_REFERENCE_LENGTH } from '../../common/contract/fields.ts';
import type { Log } from '../../common/log.ts';
import type { Metrics } from '../../common/operations.ts';
import { roundedMs } from '../../common/units.ts';
import { withoutKeys } from '../accounts/keys.ts';
import { ALL_PHASES, renderMsOf } from '../store/phases.ts';
import type { Context, Middleware } from './state.ts';

export const requestId: Middleware = async (ctx, next) => {
  ctx.state.requestId = randomUUIDv7();
  ctx.set('X-Request-Id', ctx.state.requestId);
  await next();
};

export const LINK_PATH = '/files';
/** As the router names it. */
export const LINK_ROUTE = `${LINK_PATH}/:token`;

export const isLinkPath = (path: string): boolean => path.startsWith(`${LINK_PATH}/`);

/** `unavailable` is the answer of /readyz, which is no error of the caller's request. */
export type RequestOutcome =
  | 'ok'
  | 'unavailable'
  | 'client_closed'
  | ErrorCode
  | RenderFailedReason;

/**
 * Counts one request; a path that is none of `paths` counts as `other`, since anybody can make up
 * any number of them.
 */
export type CountRequest = (path: string, outcome: RequestOutcome) => void;

export function requestCounter(metrics: Metrics, paths: ReadonlySet<string>): CountRequest {
  const requests = metrics.counter(
    'pressroom_http_requests_total',
    'HTTP requests by outcome: ok, the error code, or for render_failed its reason.',
    ['route', 'outcome'],
  );
  return (path, outcome) => requests.inc({ route: paths.has(path) ? path : 'other', outcome });
}

interface Sources {
  connections(): number;
  bytesInFlight(): number;
  maxBytesInFlight: number;
}

/** Gives what counts a request that was answered before it became one. */
export function serverMetrics(
  metrics: Metrics,
  { connections, bytesInFlight, maxBytesInFlight }: Sources,
): () => void {
  const broken = metrics.counter(
    'pressroom_http_broken_requests_total',
    'Requests that were not valid HTTP, answered before any route.',
  );
  metrics.gauge('pressroom_http_connections', 'Open client connections.', [], gauge =>
    gauge.set(connections()),
  );
  metrics.gauge(
    'pressroom_in_flight_bytes',
    'Memory held for request bodies and PDFs, as counted against the limit.',
    [],
    gauge => gauge.set(bytesInFlight()),
  );
  metrics
    .gauge(
      'pressroom_in_flight_limit_bytes',
      'Memory limit for request bodies and PDFs; requests beyond it are rejected as overloaded.',
    )
    .set(maxBytesInFlight);
  return () => broken.inc();
}

/** How a render ended. Rejected: an error 4xx of the contract. */
const LOGGED_OUTCOMES = ['succeeded', 'failed', 'rejected', 'canceled'] as const;
export type LoggedOutcome = (typeof LOGGED_OUTCOMES)[number];

/**
 * Unknown fields are dropped. A line with an invalid field is not written.
 */
const accessLine = z.object({
  requestId: z.uuid(),
  method: z.string().max(20),
  path: z.string().max(130),
  /** Only with PRESSROOM_LOG_CLIENT_ADDRESS=on. */
  clientAddress: z.string().max(64).optional(),
  /** Absent when the client disconnected before. */
  status: z.int().optional(),
  /** Of a render. */
  outcome: z.enum(LOGGED_OUTCOMES).optional(),
  /** The error's code, or `client_closed`. */
  code: z.enum([...(Object.keys(STATUS) as (keyof typeof STATUS)[]), 'client_closed']).optional(),
  reason: z.enum(RENDER_FAILED_REASONS).optional(),
  ms: z.number(),
  /** Of the request's body. */
  bodyBytes: z.int().optional(),
  /** Of the response; of the PDF when it is sent as a link. */
  bytes: z.int().optional(),
  accountId: z.string().length(10).optional(),
  keyId: z.string().max(40).optional(),
  reference: z.string().max(MAX_REFERENCE_LENGTH).optional(),
  /** In a slot, without waiting for it. */
  renderMs: z.number().optional(),
  /** Of a render, in ms. */
  phases: z.partialRecord(z.enum(ALL_PHASES), z.number()).optional(),
  /** Of the PDF. */
  pages: z.int().optional(),
  /** Requests of the page that failed. */
  resourceErrors: z.int().optional(),
});

export type AccessLine = z.output<typeof accessLine>;

/** Probes, and what the dashboard loads and polls, are logged at `debug` when they succeed. */
const QUIET = /^\/(healthz$|readyz$|app\/|console\/v1\/)/;
const isQuiet = (method: string, path: string, status: number) =>
  method === 'GET' && status < 400 && QUIET.test(path);

/**
 * The path without its query, bounded, without the token of a link, and without an API key that was
 * put into it by mistake.
 */
export const loggedPath = (path: string): string =>
  isLinkPath(path) ? `${LINK_PATH}/…` : withoutKeys(path).slice(0, 128);

/** The route: all links are one, and so are all IDs of asynchronous renders. */
const countedPath = (path: string): string =>
  isLinkPath(path) ? LINK_ROUTE : path.replace(/^\/v1\/renders\/[^/]+/, '/v1/renders/:id');

/** `addressOf`: the address of the client; absent when it is not logged. */
export const accessLog = (
  log: Log,
  count: CountRequest,
  addressOf?: (ctx: Context) => string,
): Middleware => {
  return async (ctx, next) => {
    const startMs = performance.now();
    ctx.state.startMs = startMs;
    // A closed connection has no address.
    const clientAddress = addressOf?.(ctx);
    const { method, path } = ctx;
    // Only `close` shows whether the response was sent.
    ctx.res.once('close', async () => {
      const ms = roundedMs(performance.now() - startMs);
      const left = !ctx.res.writableFinished;
      // A render whose client disconnected ends later.
      await ctx.state.entry?.ended.promise;
      const { requestId, code, reason, bodyBytes, accepted, access, entry } = ctx.state;
      count(
        countedPath(path),
        left
          ? 'client_closed'
          : (reason ?? code ?? (ctx.res.statusCode < 400 ? 'ok' : 'unavailable')),
      );
      const line = accessLine.safeParse({
        requestId,
        method,
        path: loggedPath(path),
        clientAddress,
        status: ctx.res.headersSent ? ctx.res.statusCode : undefined,
        outcome: entry?.outcome,
        code: left ? 'client_closed' : code,
        reason,
        ms,
        bodyBytes,
        bytes: left ? undefined : (ctx.response.length ?? entry?.trace.bytes),
        accountId: entry?.who?.account ?? accepted?.accountId ?? access?.account,
        keyId: accepted?.keyId,
        reference: entry?.request?.reference,
        renderMs: entry?.phases && renderMsOf(entry.phases),
        phases: entry?.phases,
        pages: entry?.trace.pages,
        resourceErrors: entry?.trace.resources.count,
      });
      if (line.data)
        log[isQuiet(method, path, ctx.res.statusCode) ? 'debug' : 'info'](line.data, 'request');
      else
        log.error(
          { requestId, fields: line.error.issues.map(issue => issue.path.join('.')) },
          'access log line does not match its schema',
        );
    });
    await next();
  };
};
