// Wires the API: store, leases, workers, dispatch, the use case and the HTTP server. Returns the services in the order in which they start.
import { ConfigError } from '../common/config.ts';
import type { Service } from '../common/lifecycle.ts';
import type { Log } from '../common/log.ts';
import type { Metrics } from '../common/operations.ts';
import { createAcceptedKeys } from './accounts/accepted-keys.ts';
import { createAccountRequests } from './accounts/account-requests.ts';
import { createApp } from './app.ts';
import type { ApiConfig } from './config.ts';
import { type ConsoleDeps, createConsole } from './console/console.ts';
import type { ConsoleRoute } from './console/kit/route.ts';
import type { AccessTokens } from './console/oauth/access.ts';
import { createClientFetch } from './console/oauth/client-fetch.ts';
import { BODY_TIMES } from './http/body.ts';
import { createByteBudget } from './http/byte-budget.ts';
import { parseTrustedProxies } from './http/client-ip.ts';
import { serverMetrics } from './http/http-metrics.ts';
import { type HttpServer, httpServer } from './http/server.ts';
import { MongoLeases } from './leases/mongo-leases.ts';
import { createTrialAdmission } from './leases/trial-admission.ts';
import { trialLeases } from './leases/trial-leases.ts';
import { createFinish } from './pdf/finish.ts';
import { createWatermarkPool } from './pdf/watermark/watermark-pool.ts';
import { Dispatcher } from './queue/dispatcher.ts';
import { createRecentTimes } from './render/recent-times.ts';
import { createRender } from './render/render.ts';
import { renderMetrics } from './render/render-metrics.ts';
import { TRIAL_SHARE } from './routes/trial.ts';
import { PHASES } from './store/phases.ts';
import { connectStore } from './store/store.ts';
import { createConnections } from './workers/connections.ts';
import { openSession } from './workers/session.ts';
import { createTlsTunnels } from './workers/tls-tunnels.ts';
import { parseWorkerSources } from './workers/worker-addresses.ts';
import { createWorkers } from './workers/workers.ts';

/** The longest that one database operation may take: an admission must answer while its caller still waits. */
const OPERATION_TIMEOUT_MS = 5_000;

export type CompleteApiConfig = ApiConfig & { mongodbUri: string; pepper: string; poolSecret: string };

export interface Api {
  services: Service[];
  /** The HTTP port, once started. */
  port(): number;
  /** The rows of the management API; none without the dashboard. */
  consoleRows: readonly ConsoleRoute[];
  /** Of the MCP tool; none without it. For tests. */
  accessTokens: AccessTokens | undefined;
}

/** What has no default and cannot be made up. Throws ConfigError that names all of it. */
export function complete(config: ApiConfig): CompleteApiConfig {
  const { mongodbUri, pepper, poolSecret, billing, dashboard } = config;
  const required: Record<string, unknown> = { MONGODB_URI: mongodbUri, PRESSROOM_PEPPER: pepper, PRESSROOM_POOL_SECRET: poolSecret };
  if (billing.mode === 'stripe')
    Object.assign(required, {
      PRESSROOM_STRIPE_SECRET_KEY: billing.stripe.secretKey,
      PRESSROOM_STRIPE_WEBHOOK_SECRET: billing.stripe.webhookSecret,
      PRESSROOM_STRIPE_PRICES: billing.stripe.prices.sold.size || undefined,
      // The dashboard is where people go to pay, and hears what Stripe tells.
      PRESSROOM_SECRET: dashboard.secret,
    });
  const problems = Object.entries(required)
    .filter(([, value]) => value === undefined)
    .map(([name]) => `  ${name} is missing`);
  if (billing.mode === 'stripe' && !dashboard.on) problems.push('  PRESSROOM_DASHBOARD=off: PRESSROOM_BILLING=stripe needs the dashboard');
  if (problems.length > 0) throw new ConfigError(`The configuration is wrong:\n${problems.join('\n')}`);
  return { ...config, mongodbUri: mongodbUri!, pepper: pepper!, poolSecret: poolSecret! };
}

/** See ConsoleDeps. */
export interface ApiOptions extends Pick<ConsoleDeps, 'onSetupLink'> {
  /** For tests: another way to the documents of apps. */
  clientFetch?: ConsoleDeps['clientFetch'] | undefined;
}

export function createApi(config: CompleteApiConfig, log: Log, metrics: Metrics, { onSetupLink, clientFetch }: ApiOptions = {}): Api {
  const dashboardUrl = `${config.publicUrl}/app`;
  const { peppers, plans, pastDueGraceMs, pool, poolSecret: secret } = config;
  const served = { pastDueGraceMs, everyStateServed: config.billing.mode === 'none' };
  const times = createRecentTimes();
  const store = connectStore({ uri: config.mongodbUri, operationTimeoutMs: OPERATION_TIMEOUT_MS }, log, metrics);
  const keys = createAcceptedKeys(store, { ...served, plans, peppers, dashboardUrl });
  const requests = createAccountRequests(store, plans);
  const leases = new MongoLeases(store, { ...served, plans, dashboardUrl, retryAfterS: times.retryAfterS, metrics }, log);
  const sources = parseWorkerSources(config.workers);
  const listed = sources.flatMap(source => (source.kind === 'address' ? [source.address] : []));
  const tunnels = createTlsTunnels(listed, config.workersTls, log);
  const { reach } = tunnels;
  const workers = createWorkers({ sources, pool, secret, log, reach });
  const connections = createConnections({ reach });
  const dispatch = new Dispatcher({ queue: config.queue, workers, openSlot: openSession(connections), secret, pool, metrics });
  const stamps = createWatermarkPool();
  const finish = createFinish({ stamps, maxBytes: config.render.output.maxBytes });
  const meters = renderMetrics(metrics, times, PHASES);
  const render = createRender({ leases, trial: false, dispatch, limits: config.render, finish, meters: meters.paid });
  const trial = config.trial && createTrial(config.trial);
  const budget = createByteBudget(config.inFlightMaxBytes);

  function createTrial(limits: { perMinute: number; parallel: number }) {
    const door = createTrialAdmission(limits);
    const slots = () => workers.totals().slots;
    const leases = trialLeases(store, { ...limits, pepper: config.pepper, slots, door }, log);
    const render = createRender({ leases, trial: true, dispatch, limits: config.render, finish, meters: meters.trial });
    return { leases, route: { leases, render, maxBytes: config.inFlightMaxBytes * TRIAL_SHARE } };
  }

  const trustedProxies = parseTrustedProxies(config.trustedProxies);
  const console = createDashboard(config.dashboard);

  function createDashboard({ on, secret, admin, renderLogKeepMs, sso, passwords: passwordSignIn }: ApiConfig['dashboard']) {
    if (!on) return undefined;
    if (secret === undefined) {
      log.warn('there is no dashboard: PRESSROOM_SECRET is not set');
      return undefined;
    }
    const { publicUrl, egress: ports, bodyMaxBytes, billing, mcp } = config;
    return createConsole({
      publicUrl,
      secret,
      peppers,
      plans,
      pastDueGraceMs,
      billing,
      store,
      budget,
      requests,
      trustedProxies,
      log,
      metrics,
      pool,
      dispatch,
      workers,
      render,
      ports,
      bodyMaxBytes,
      mcp: mcp.on
        ? {
            clients: mcp.clients,
            links: mcp.links,
            renderMs: config.render.renderMs,
            outputMaxBytes: config.render.output.maxBytes,
          }
        : undefined,
      admin,
      renderLogKeepMs,
      sso,
      passwordSignIn,
      onSetupLink,
      clientFetch: clientFetch ?? createClientFetch({ deny: config.egress.deny }),
    });
  }

  const app = createApp({
    publicUrl: config.publicUrl,
    keys,
    requests,
    render,
    onRefused: meters.paid.ended,
    trial: trial?.route,
    console,
    health: {
      database: timeoutMs => store.ping(timeoutMs),
      workers: () => ({ ready: workers.totals().serving, slots: workers.totals().slots }),
    },
    body: { maxBytes: config.bodyMaxBytes, ...BODY_TIMES },
    budget,
    ports: config.egress,
    trustedProxies,
    log,
    metrics,
  });
  const onBroken = serverMetrics(metrics, {
    connections: () => server.connections(),
    bytesInFlight: budget.used,
    maxBytesInFlight: config.inFlightMaxBytes,
  });
  const server: HttpServer = httpServer({ ...config.http, trustedProxies }, app, log, onBroken);
  return {
    services: [
      store,
      leases,
      ...(trial ? [trial.leases] : []),
      tunnels,
      connections,
      workers,
      stamps,
      ...(console?.services ?? []),
      server,
    ],
    port: server.port,
    consoleRows: console?.rows ?? [],
    accessTokens: console?.oauth?.tokens,
  };
}
