// What the routes of asynchronous renders and of batches share: the parts of a submission, and of
// their middleware.
import { parseTtl } from '../../common/contract/async-renders.ts';
import { isJsonObject } from '../../common/contract/problems.ts';
import {
  type InstallationRules,
  parseRenderRequest,
} from '../../common/contract/render-request.ts';
import type { Accepted } from '../accounts/accepted-keys.ts';
import { orUnavailable } from '../accounts/account-errors.ts';
import { strict } from '../http/checked.ts';
import type { Context, Middleware, Route } from '../http/state.ts';
import type { RenderSubmission } from '../jobs/stored-job.ts';

export interface SubmissionRules extends InstallationRules {
  maxTtlMs: number;
}

/** Of an unfinished render: most end within seconds once they run. */
export const RETRY_AFTER_S = 2;

/** Splits a body into `ttl` and the request. Throws ApiError. */
export function parseSubmission(
  body: unknown,
  { maxTtlMs, ...rules }: SubmissionRules,
  { intranet, test }: Pick<Accepted, 'intranet' | 'test'>,
): RenderSubmission {
  const { ttl, ...fields } = isJsonObject(body) ? body : {};
  const ttlMs = parseTtl(ttl, maxTtlMs);
  const given = isJsonObject(body) ? fields : body;
  const parsed = parseRenderRequest(given, { ...rules, intranet });
  return { ttlMs, request: test ? { ...parsed, sandbox: true } : parsed };
}

export const noParameters = strict(undefined);

export const pathId = (ctx: Context) => (ctx as Context & { params: { id: string } }).params.id;

/** Answers database errors with `unavailable`. */
export const orDatabaseUnavailable: Middleware = async (_ctx, next) => {
  try {
    await next();
  } catch (error) {
    throw orUnavailable(error);
  }
};

/** OpenAPI writes `{id}`, the router `:id`. */
export const routeOf = ({ method, path }: { method: Route['method']; path: string }) => ({
  method,
  path: path.replace(/\{(\w+)\}/g, ':$1'),
});
