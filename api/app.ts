// The API as a Koa application: its middleware and its routes, top to bottom. Does not listen.
import Router, { type RouterContext } from '@koa/router';
import Koa from 'koa';
import type { Network } from '../common/addresses.ts';
import type { ApiError, RenderFailedReason } from '../common/contract/errors.ts';
import type { InstallationRules } from '../common/contract/render-request.ts';
import type { Log } from '../common/log.ts';
import type { Metrics } from '../common/operations.ts';
import type { AcceptedKeys } from './accounts/accepted-keys.ts';
import type { AccountRequests } from './accounts/account-requests.ts';
import type { Plan } from './accounts/plans.ts';
import type { Console } from './console/console.ts';
import { docsRoutes } from './docs/routes.ts';
import { accessLog, loggedPath, requestCounter, requestId } from './http/access-log.ts';
import { type BodyLimits, jsonBody } from './http/body.ts';
import { accountHolder, type ByteBudget } from './http/byte-budget.ts';
import { bearer, boundRequests, callerIp, countForwarded } from './http/caller.ts';
import { errors, noRoute } from './http/errors.ts';
import type { Context, Middleware, Route, State } from './http/state.ts';
import type { RenderUseCase } from './render/render.ts';
import { accountRoutes } from './routes/account.ts';
import { type AsyncRenderRoutes, asyncRenderRoutes } from './routes/async-renders.ts';
import { type BatchRoutes, batchRoutes } from './routes/batches.ts';
import { type HealthChecks, healthz, readyz } from './routes/health.ts';
import { countEarlyFailures, recordRender, renderRoute } from './routes/render.ts';
import { type TrialRoute, trialRoute } from './routes/trial.ts';
import type { Store } from './store/store.ts';

export interface AppDeps {
  /** The base of every absolute link; without a trailing slash. */
  publicUrl: string;
  keys: AcceptedKeys;
  requests: AccountRequests;
  render: RenderUseCase;
  /** Called with the reason when a customer's render fails on our side before it begins. */
  onEarlyFailure(reason: RenderFailedReason): void;
  /** Undefined turns the trial off. */
  trial?: TrialRoute | undefined;
  /** Undefined turns asynchronous renders off. */
  asynchronous?: (AsyncRenderRoutes & BatchRoutes) | undefined;
  /** Undefined turns the dashboard off. */
  console?: (Pick<Console, 'routes' | 'renders'> & Partial<Pick<Console, 'oauth'>>) | undefined;
  health: HealthChecks;
  body: BodyLimits;
  budget: ByteBudget;
  rules: InstallationRules;
  trustedProxies: readonly Network[];
  /** Whether the log line of a request has the address of the client. */
  logClientAddress: boolean;
  store: Store;
  plans: readonly Plan[];
  log: Log;
  metrics: Metrics;
}

/** The paths that return only the specification's error codes. */
const RENDER_PATHS: ReadonlySet<string> = new Set(['/v1/render', '/v1/trial/render']);

const nosniff: Middleware = async (ctx, next) => {
  ctx.set('X-Content-Type-Options', 'nosniff');
  await next();
};

export interface App {
  handle: ReturnType<Koa['callback']>;
  /** The error for a request whose method no route accepts: 405 with the path's methods, or 404. */
  methodError(path: string): ApiError;
  publicUrl: string;
}

export function createApp(deps: AppDeps): App {
  const {
    publicUrl,
    keys,
    requests,
    onEarlyFailure,
    trial,
    asynchronous,
    console,
    health,
    body,
    budget,
    trustedProxies,
    logClientAddress,
    log,
    metrics,
  } = deps;
  const routes: Route[] = [
    { method: 'get', path: '/', handle: [ctx => ctx.redirect('/docs')] },
    ...docsRoutes({
      publicUrl,
      dashboard: console !== undefined,
      trial: trial !== undefined,
      asyncRenders: asynchronous !== undefined,
      usage: console !== undefined,
      mcpUrl: console?.oauth?.resource,
    }),
    { method: 'get', path: '/healthz', handle: [healthz] },
    { method: 'get', path: '/readyz', handle: [readyz(health)] },
    {
      method: 'post',
      path: '/v1/render',
      handle: [
        countEarlyFailures(onEarlyFailure),
        recordRender(console?.renders),
        bearer(keys, trustedProxies, 'render'),
        boundRequests(
          requests,
          ({ state }) => state.accepted,
          ({ state }) => keys.recheck(state.accepted),
        ),
        jsonBody(body, budget, ({ state }) =>
          accountHolder(state.accepted.accountId, state.accepted.parallel),
        ),
        renderRoute(deps),
      ],
    },
  ];
  routes.push(...accountRoutes({ ...deps, usage: !!console }));
  if (trial)
    routes.push({ method: 'post', path: '/v1/trial/render', handle: trialRoute(trial, deps) });
  if (asynchronous)
    routes.push(...asyncRenderRoutes(asynchronous, deps), ...batchRoutes(asynchronous, deps));
  if (console) routes.push(...console.routes);

  const router = new Router<State>({ strict: true, sensitive: true });
  for (const { method, path, handle } of routes) router.register(path, [method], handle);
  const unrouted: Middleware = ctx => {
    const { matched = [] } = ctx as Context & Pick<RouterContext, 'matched'>;
    throw noRoute(`${ctx.method} ${loggedPath(ctx.path)}`, matched);
  };

  const count = requestCounter(metrics, new Set(routes.map(({ path }) => path)));
  const addressOf = logClientAddress ? (ctx: Context) => callerIp(ctx, trustedProxies) : undefined;
  const app = new Koa<State>();
  app
    .use(requestId)
    .use(accessLog(log, count, addressOf))
    .use(countForwarded(metrics, trustedProxies))
    .use(nosniff)
    .use(errors(log, RENDER_PATHS, publicUrl))
    .use(router.routes())
    .use(unrouted);
  // What reaches this comes after the answer has begun: the other end went away.
  app.on('error', (error: Error) =>
    log.debug({ reason: error.message }, 'could not send the response completely'),
  );
  return {
    handle: app.callback(),
    publicUrl,
    methodError: path =>
      noRoute(
        loggedPath(path),
        router.stack.filter(({ regexp }) => regexp.test(path)),
      ),
  };
}
