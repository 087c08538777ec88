// Wires the API: store, leases, workers, dispatch, the use case and the HTTP server. Returns the
// services in start order.
import { ConfigError } from '../common/config.ts';
import type { Service } from '../common/lifecycle.ts';
import type { Log } from '../common/log.ts';
import type { Metrics } from '../common/operations.ts';
import { createAcceptedKeys } from './accounts/accepted-keys.ts';
import { deletionSweep } from './accounts/account-deletion.ts';
import { createAccountRequests } from './accounts/account-requests.ts';
import { type AppDeps, createApp } from './app.ts';
import type { ApiConfig } from './config.ts';
import { type ConsoleDeps, createConsole } from './console/console.ts';
import type { ConsoleRoute } from './console/kit/route.ts';
import type { AccessTokens } from './console/oauth/access.ts';
import { createClientFetch } from './console/oauth/client-fetch.ts';
import { RenderLog, type RenderLogTimes } from './history/render-log.ts';
import { serverMetrics } from './http/access-log.ts';
import { BODY_TIMES } from './http/body.ts';
import { createByteBudget } from './http/byte-budget.ts';
import { parseTrustedProxies } from './http/caller.ts';
import { HttpServer } from './http/server.ts';
import { ADMITTED_LEASES, createJobs, type JobsParts } from './jobs/create-jobs.ts';
import { MongoLeases } from './leases/mongo-leases.ts';
import { createTrialAdmission } from './leases/trial-admission.ts';
import { trialLeases } from './leases/trial-leases.ts';
import { PdfFinisher } from './pdf/finish.ts';
import { WatermarkPool } from './pdf/watermark/watermark-pool.ts';
import { Dispatcher } from './queue/dispatcher.ts';
import { createRender, type RenderDeps } from './render/render.ts';
import { createRecentTimes, type RenderMeters, renderMetrics } from './render/render-metrics.ts';
import { createSendJobPdf } from './routes/async-download.ts';
import { TRIAL_SHARE } from './routes/trial.ts';
import { PHASES } from './store/phases.ts';
import { connectStore, type Store } from './store/store.ts';
import { createConnections } from './workers/connections.ts';
import { openSession, type Session } from './workers/session.ts';
import { createTlsTunnels } from './workers/tls-tunnels.ts';
import { parseWorkerSources } from './workers/worker-addresses.ts';
import { Workers } from './workers/workers.ts';

/**
 * Time limit of one database operation: an admission must finish while its client still waits.
 */
const OPERATION_TIMEOUT_MS = 5_000;

export type CompleteApiConfig = ApiConfig & {
  mongodbUri: string;
  pepper: string;
  poolSecret: string;
};

export interface Api {
  services: Service[];
  /** The HTTP port, once started. */
  port(): number;
  /** The rows of the management API; none without the dashboard. */
  consoleRows: readonly ConsoleRoute[];
  /** Of the MCP tool; none without it. For tests. */
  accessTokens: AccessTokens | undefined;
}

/** Checks the settings without a default. Throws ConfigError that names all that are missing. */
export function complete(config: ApiConfig): CompleteApiConfig {
  const { mongodbUri, pepper, poolSecret, billing, dashboard } = config;
  const required: Record<string, unknown> = {
    MONGODB_URI: mongodbUri,
    PRESSROOM_PEPPER: pepper,
    PRESSROOM_POOL_SECRET: poolSecret,
  };
  if (billing.mode === 'stripe')
    Object.assign(required, {
      PRESSROOM_STRIPE_SECRET_KEY: billing.stripe.secretKey,
      PRESSROOM_STRIPE_WEBHOOK_SECRET: billing.stripe.webhookSecret,
      PRESSROOM_STRIPE_PRICES: billing.stripe.prices.sold.size || undefined,
      // Users pay in the dashboard, and it receives Stripe's webhook.
      PRESSROOM_SECRET: dashboard.secret,
    });
  if (config.asyncRenders.on) Object.assign(required, { PRESSROOM_SECRET: dashboard.secret });
  const problems = Object.entries(required)
    .filter(([, value]) => value === undefined)
    .map(([name]) => `  ${name} is missing`);
  if (billing.mode === 'stripe' && !dashboard.on)
    problems.push('  PRESSROOM_DASHBOARD=off: PRESSROOM_BILLING=stripe needs the dashboard');
  if (problems.length > 0) throw new ConfigError(`Invalid configuration:\n${problems.join('\n')}`);
  return { ...config, mongodbUri: mongodbUri!, pepper: pepper!, poolSecret: poolSecret! };
}

/** See ConsoleDeps. */
export interface ApiOptions extends Pick<ConsoleDeps, 'onSetupLink'> {
  /** For tests: fetches client metadata documents. */
  clientFetch?: ConsoleDeps['clientFetch'] | undefined;
  /** For tests, which wait for the rows. */
  renderLog?: Partial<RenderLogTimes>;
}

/** The links to the workers of the pool. */
export function createPool(
  {
    workers: addresses,
    workersTls,
    pool,
    poolSecret: secret,
  }: Pick<CompleteApiConfig, 'workers' | 'workersTls' | 'pool' | 'poolSecret'>,
  log: Log,
) {
  const sources = parseWorkerSources(addresses);
  const listed = sources.flatMap(source => (source.kind === 'address' ? [source.address] : []));
  const tunnels = createTlsTunnels(listed, workersTls, log);
  const { reach } = tunnels;
  return {
    tunnels,
    connections: createConnections({ reach }),
    workers: new Workers({ sources, pool, secret, log, reach }),
  };
}

type Rendering = Pick<RenderDeps<unknown>, 'limits' | 'finisher' | 'reuse'> & {
  dispatcher: Dispatcher<Session>;
};

function createTrial(
  limits: { perMinute: number; parallel: number },
  { pepper, inFlightMaxBytes }: CompleteApiConfig,
  {
    store,
    workers,
    rendering,
    meters,
    log,
  }: { store: Store; workers: Workers; rendering: Rendering; meters: RenderMeters; log: Log },
) {
  const slots = () => workers.registry.totals().slots;
  const leases = trialLeases(
    store,
    { ...limits, pepper, slots, admission: createTrialAdmission(limits) },
    log,
  );
  const render = createRender({ ...rendering, leases, trial: true, meters });
  return { leases, route: { leases, render, maxBytes: inFlightMaxBytes * TRIAL_SHARE } };
}

/** Undefined when asynchronous renders are off. */
function createAsynchronous(
  { asyncRenders, dashboard, plans, bodyMaxBytes }: CompleteApiConfig,
  {
    rendering,
    meters,
    ...parts
  }: Omit<JobsParts, 'plans' | 'secret' | 'render' | 'dispatcher'> & {
    rendering: Rendering;
    meters: RenderMeters;
  },
) {
  if (!asyncRenders.on) return undefined;
  const sendPdf = createSendJobPdf(parts.budget, parts.log);
  const render = createRender({ ...rendering, leases: ADMITTED_LEASES, trial: false, meters });
  const { services, watch, maxRequestBytes, ...made } = createJobs({
    ...parts,
    plans,
    secret: dashboard.secret!,
    render,
    dispatcher: rendering.dispatcher,
  });
  const maxBytes = Math.min(bodyMaxBytes, maxRequestBytes);
  return {
    services,
    watch,
    routes: { ...made, ...asyncRenders, sendPdf, maxRequestBytes: maxBytes },
  };
}

type SharedWithConsole =
  | 'store'
  | 'budget'
  | 'requests'
  | 'trustedProxies'
  | 'log'
  | 'metrics'
  | 'dispatch'
  | 'workers'
  | 'render'
  | 'asynchronous';

/** Undefined when the dashboard is off, or has no secret. */
function createDashboard(
  {
    dashboard,
    publicUrl,
    peppers,
    plans,
    pastDueGraceMs,
    pool,
    egress,
    bodyMaxBytes,
    billing,
    mcp,
    render,
  }: CompleteApiConfig,
  {
    renders,
    ...shared
  }: Pick<ConsoleDeps, SharedWithConsole> & { renders?: RenderLog | undefined },
  { onSetupLink, clientFetch }: ApiOptions,
) {
  const { on, secret, admin, renderLogKeepMs, sso, passwords: passwordSignIn } = dashboard;
  if (on && !renders) shared.log.warn('the dashboard is off: PRESSROOM_SECRET is not set');
  if (!renders || secret === undefined) return undefined;
  const { clients, links } = mcp;
  return createConsole({
    ...shared,
    renders,
    publicUrl,
    secret,
    peppers,
    plans,
    pastDueGraceMs,
    billing,
    pool,
    rules: { ...egress, maxTimeoutMs: render.renderMs },
    bodyMaxBytes,
    mcp: mcp.on
      ? { clients, links, renderMs: render.renderMs, outputMaxBytes: render.output.maxBytes }
      : undefined,
    admin,
    renderLogKeepMs,
    sso,
    passwordSignIn,
    onSetupLink,
    clientFetch: clientFetch ?? createClientFetch({ deny: egress.deny }),
  });
}

/** The application and its HTTP server. */
function createServer(
  config: CompleteApiConfig,
  deps: Omit<AppDeps, 'publicUrl' | 'health' | 'body' | 'rules' | 'logClientAddress'>,
  health: AppDeps['health'],
): HttpServer {
  const { publicUrl, bodyMaxBytes, egress, render, http, inFlightMaxBytes, logClientAddress } =
    config;
  const { log, metrics, budget, trustedProxies } = deps;
  const app = createApp({
    ...deps,
    publicUrl,
    health,
    body: { maxBytes: bodyMaxBytes, ...BODY_TIMES },
    rules: { ...egress, maxTimeoutMs: render.renderMs },
    logClientAddress,
  });
  const onBroken = serverMetrics(metrics, {
    connections: () => server.connections(),
    bytesInFlight: budget.used,
    maxBytesInFlight: inFlightMaxBytes,
  });
  const server: HttpServer = new HttpServer({ ...http, trustedProxies }, app, log, onBroken);
  return server;
}

const healthOf = (store: Store, { registry }: Workers): AppDeps['health'] => ({
  database: timeoutMs => store.ping(timeoutMs),
  workers: () => ({ ready: registry.totals().serving, slots: registry.totals().slots }),
});

export function createApi(
  config: CompleteApiConfig,
  log: Log,
  metrics: Metrics,
  options: ApiOptions = {},
): Api {
  const dashboardUrl = `${config.publicUrl}/app`;
  const { peppers, plans, pastDueGraceMs, pool, poolSecret: secret } = config;
  const served = { pastDueGraceMs, billing: config.billing.mode };
  const times = createRecentTimes();
  const store = connectStore(
    { uri: config.mongodbUri, operationTimeoutMs: OPERATION_TIMEOUT_MS },
    log,
    metrics,
  );
  const keys = createAcceptedKeys(store, { ...served, plans, peppers, dashboardUrl });
  const requests = createAccountRequests(store, plans);
  const leases = new MongoLeases(
    store,
    { ...served, plans, dashboardUrl, retryAfterS: times.retryAfterS, metrics },
    log,
  );
  const { tunnels, connections, workers } = createPool(config, log);
  const dispatcher = new Dispatcher({
    queue: config.queue,
    workers: workers.registry,
    openSlot: openSession(connections),
    secret,
    pool,
    metrics,
  });
  const watermarks = new WatermarkPool();
  const finisher = new PdfFinisher({ watermarks, maxBytes: config.render.output.maxBytes });
  const meters = renderMetrics(metrics, times, PHASES);
  // The IDs in a tagged PDF show how many elements Chrome has had before.
  const reuse = config.rendererReuse && !config.render.output.tagged;
  const rendering = { dispatcher, limits: config.render, finisher, reuse };
  const render = createRender({ ...rendering, leases, trial: false, meters: meters.paid });
  const trial =
    config.trial &&
    createTrial(config.trial, config, { store, workers, rendering, meters: meters.trial, log });
  const budget = createByteBudget(config.inFlightMaxBytes);
  const trustedProxies = parseTrustedProxies(config.trustedProxies);
  const hasDashboard = config.dashboard.on && config.dashboard.secret !== undefined;
  const renders = hasDashboard ? new RenderLog(store, log, metrics, options.renderLog) : undefined;
  const shared = { store, requests, render, renders, budget, trustedProxies, log, metrics };
  const fleet = { dispatch: dispatcher, workers: workers.registry };
  const asynchronous = createAsynchronous(config, {
    ...shared,
    served,
    leases,
    rendering,
    meters: meters.paid,
    workers: workers.registry,
  });
  const console = createDashboard(
    config,
    { ...shared, ...fleet, asynchronous: asynchronous?.routes },
    options,
  );
  const server = createServer(
    config,
    {
      ...shared,
      keys,
      plans,
      onEarlyFailure: meters.paid.ended,
      trial: trial?.route,
      asynchronous: asynchronous?.routes,
      console,
    },
    healthOf(store, workers),
  );
  return {
    services: [
      store,
      deletionSweep(store, log),
      leases,
      ...(trial ? [trial.leases] : []),
      tunnels,
      connections,
      workers,
      watermarks,
      ...(console?.services ?? []),
      ...(asynchronous?.services ?? []),
      server,
      ...(asynchronous ? [asynchronous.watch] : []),
    ],
    port: () => server.port(),
    consoleRows: console?.rows ?? [],
    accessTokens: console?.oauth?.tokens,
  };
}
