// The API's environment variables, and the nested shape that the rest of the API reads.
import { z } from 'zod';
import {
  bytes,
  ConfigError,
  choice,
  duration,
  httpUrl,
  integer,
  listVariable,
  onOff,
  pemFile,
  poolVariables,
  readConfig,
  secret,
  textVariable,
} from '../common/config.ts';
import { BILLING_MODES, parsePlans } from './accounts/plans.ts';
import { adminVariables, readAdminConfig } from './console/auth/admin-config.ts';
import { parsePrices } from './console/billing/prices.ts';
import { readSsoConfig, ssoVariables } from './console/sso/sso-config.ts';

export const apiVariables = z.object({
  PRESSROOM_HOST: textVariable('0.0.0.0', 'an address').describe(
    'Address that the API listens on.',
  ),
  PRESSROOM_PORT: integer('8080', 0, 65_535).describe('Port that the API listens on.'),
  PRESSROOM_PUBLIC_URL: httpUrl().describe(
    'Public URL of the API; every absolute link starts with it (default: `http://localhost:` and the port).',
  ),
  MONGODB_URI: secret().describe(
    'Connection string of a MongoDB replica set, version 6.0 or later. `npm start` runs its own MongoDB when this is not set.',
  ),
  PRESSROOM_PEPPER: secret(16).describe(
    'Secret of the HMAC that API keys are stored as. The same for all API processes.',
  ),
  PRESSROOM_PEPPER_PREVIOUS: secret(16).describe(
    'Previous pepper, accepted while the pepper is being rotated.',
  ),
  PRESSROOM_DASHBOARD: onOff('on').describe(
    'Whether the dashboard under `/app` and its management API are on.',
  ),
  PRESSROOM_SECRET: secret(16).describe(
    'Key that encrypts secrets of the dashboard, such as those of one-time codes, and asynchronous renders. The same for all API processes. Without it the dashboard is off.',
  ),
  ...ssoVariables.shape,
  ...adminVariables.shape,
  PRESSROOM_RENDER_LOG_KEEP: duration('720h', 3600e3, 366 * 24 * 3600e3).describe(
    'How long the render log is kept.',
  ),
  PRESSROOM_MCP: onOff('on').describe(
    'Whether `/mcp` offers AI assistants such as Claude and ChatGPT a tool to render. Requires the dashboard.',
  ),
  PRESSROOM_MCP_DCR: onOff('on').describe(
    'Whether MCP clients may register at `/oauth/register` (dynamic client registration).',
  ),
  PRESSROOM_MCP_CIMD: onOff('on').describe(
    'Whether MCP clients may identify themselves with a metadata document at an https URL. The API fetches it from public addresses only.',
  ),
  PRESSROOM_MCP_LINK_TTL: duration('30m', 60e3, 24 * 3600e3).describe(
    'How long links to PDFs of the MCP tool work.',
  ),
  PRESSROOM_MCP_LINK_BYTES: bytes('512MiB', 2 ** 20).describe(
    'Bytes of PDFs that one account may keep for such links.',
  ),
  PRESSROOM_PLANS: listVariable(
    '',
    'plans such as `free=1,team=16:50000 async_parallel=8 queue=5000` (name, concurrent renders, optional monthly quota for display, optional limits of asynchronous renders that run and wait)',
  ).describe(
    'Plans that extend or replace the built-in ones (free=1, starter=2, growth=4, scale=8).',
  ),
  PRESSROOM_PAST_DUE_GRACE: duration('168h', 0, 366 * 24 * 3600e3).describe(
    'How long an account that is `past_due` can still render.',
  ),
  PRESSROOM_BILLING: choice(BILLING_MODES, 'manual').describe(
    'Who manages plans and subscriptions: `manual` an administrator, `stripe` Stripe; with `none` every account can render.',
  ),
  PRESSROOM_STRIPE_SECRET_KEY: secret(8).describe(
    'Secret or restricted key of Stripe. Required for `PRESSROOM_BILLING=stripe`.',
  ),
  PRESSROOM_STRIPE_WEBHOOK_SECRET: secret(8).describe(
    'Signing secret of the Stripe webhook `/console/stripe/webhook`. Required for `PRESSROOM_BILLING=stripe`.',
  ),
  PRESSROOM_STRIPE_PRICES: listVariable(
    '',
    'prices such as `starter=price_1Abc,growth=price_2Def`',
  ).describe(
    'Stripe price of each plan. If a plan has several prices, the first is sold and the others stay valid for existing subscriptions.',
  ),
  PRESSROOM_STRIPE_API_URL: httpUrl('https://api.stripe.com').describe(
    'Base URL of the Stripe API, or of a proxy for it.',
  ),
  PRESSROOM_WORKERS: listVariable(
    'ws://localhost:9222',
    'ws:// addresses, or one dns://name:port',
  ).describe('Addresses of the workers, or the host name of a headless Service.'),
  PRESSROOM_WORKERS_TLS_CA: pemFile().describe(
    'CA certificates for `wss://` workers (default: those that Node trusts).',
  ),
  PRESSROOM_WORKERS_TLS_CERT: pemFile().describe('Client certificate for `wss://` workers.'),
  PRESSROOM_WORKERS_TLS_KEY: pemFile().describe('Private key of the client certificate.'),
  ...poolVariables.shape,
  PRESSROOM_BODY_MAX: bytes('10MiB', 1_024).describe('The largest request body.'),
  PRESSROOM_BYTES_IN_FLIGHT: bytes('512MiB', 2 ** 20).describe(
    'Memory of one API process for request bodies (three times their size) and PDFs. Calls beyond it are rejected as `overloaded`. One account can use three quarters of it (docs/limits.md).',
  ),
  PRESSROOM_RENDER_TIMEOUT: duration('60s', 1_000, 3600e3).describe(
    'Time limit for the work on the page of a render, excluding `wait_delay`.',
  ),
  PRESSROOM_RENDERER_REUSE: onOff('on').describe(
    'Whether static documents of an account may be rendered one after another in the same sealed browser page, without scripts and network. Doubles the throughput of such documents. `off` gives each render a renderer process of its own (SECURITY.md), and so does `PRESSROOM_TAGGED_PDF`.',
  ),
  PRESSROOM_OUTPUT_MAX: bytes('100MiB', 1_024).describe('The largest PDF.'),
  PRESSROOM_TAGGED_PDF: onOff('off').describe(
    'Whether PDFs are tagged for screen readers. Takes twice the time, and several times the size for large tables.',
  ),
  PRESSROOM_QUEUE_TIMEOUT: duration('30s', 100).describe('Longest queue time of a render.'),
  PRESSROOM_QUEUE_TIMEOUT_NO_WORKER: duration('120s', 100).describe(
    'Longest queue time while no worker is connected, for example when a pool grows from zero.',
  ),
  PRESSROOM_QUEUE_MAX_RENDERS: integer('1000', 1, 1e6).describe(
    'Maximum number of queued renders of one API process.',
  ),
  PRESSROOM_QUEUE_MAX_BYTES: bytes('256MiB', 1_024).describe(
    'Maximum size of all queued request bodies of one API process.',
  ),
  PRESSROOM_ASYNC: onOff('off').describe(
    'Whether `/v1/renders` accepts asynchronous renders. They wait in MongoDB, encrypted with `PRESSROOM_SECRET`, and so do their PDFs until they expire.',
  ),
  PRESSROOM_ASYNC_TTL_MAX: duration('168h', 60e3, 366 * 24 * 3600e3).describe(
    'The longest `ttl` of an asynchronous render.',
  ),
  PRESSROOM_BATCH_BYTES: bytes('64MiB', 1_024).describe(
    'The largest body of a batch of asynchronous renders.',
  ),
  PRESSROOM_TRIAL: onOff('on').describe(
    'Whether `POST /v1/trial/render` renders without an API key.',
  ),
  PRESSROOM_TRIAL_PER_MINUTE: integer('5', 1, 1_000).describe(
    'Trial renders per minute of one address (IPv6: of one /64), across all API processes.',
  ),
  PRESSROOM_TRIAL_PARALLEL: integer('2', 1, 1_000).describe(
    'Concurrent trial renders across all API processes; never more than a quarter of the slots, but at least one.',
  ),
  PRESSROOM_TRUSTED_PROXIES: listVariable('', 'addresses and CIDRs').describe(
    'Proxies whose `X-Forwarded-For` is trusted.',
  ),
  PRESSROOM_LOG_CLIENT_ADDRESS: onOff('off').describe(
    'Whether the log line of a request has the address of the client.',
  ),
  PRESSROOM_DRAIN_DELAY: duration('5s', 0, 300e3).describe(
    'How long a stopping API still accepts requests, until load balancers have removed it.',
  ),
});

const portOf = (entry: string) => Number(/(?:^[^:]*|\]):(\d+)$/.exec(entry)?.[1]);

/** Reads the API's part of the environment. Throws ConfigError. */
export function readApiConfig(env: NodeJS.ProcessEnv) {
  const e = readConfig(apiVariables, env);
  const publicUrl = e.PRESSROOM_PUBLIC_URL ?? `http://localhost:${e.PRESSROOM_PORT}`;
  if ((e.PRESSROOM_WORKERS_TLS_CERT === undefined) !== (e.PRESSROOM_WORKERS_TLS_KEY === undefined))
    throw new ConfigError(
      'set both PRESSROOM_WORKERS_TLS_CERT and PRESSROOM_WORKERS_TLS_KEY, or neither',
    );
  const plans = parsePlans(e.PRESSROOM_PLANS);
  return {
    http: { host: e.PRESSROOM_HOST, port: e.PRESSROOM_PORT, drainDelayMs: e.PRESSROOM_DRAIN_DELAY },
    publicUrl: publicUrl.replace(/\/+$/, ''),
    mongodbUri: e.MONGODB_URI,
    pepper: e.PRESSROOM_PEPPER,
    peppers: [e.PRESSROOM_PEPPER, e.PRESSROOM_PEPPER_PREVIOUS].filter(
      pepper => pepper !== undefined,
    ),
    dashboard: {
      on: e.PRESSROOM_DASHBOARD,
      secret: e.PRESSROOM_SECRET,
      admin: readAdminConfig(e),
      renderLogKeepMs: e.PRESSROOM_RENDER_LOG_KEEP,
      sso: readSsoConfig(e),
      passwords: e.PRESSROOM_PASSWORDS,
    },
    mcp: {
      on: e.PRESSROOM_MCP,
      clients: { registration: e.PRESSROOM_MCP_DCR, document: e.PRESSROOM_MCP_CIMD },
      links: { ttlMs: e.PRESSROOM_MCP_LINK_TTL, accountMaxBytes: e.PRESSROOM_MCP_LINK_BYTES },
    },
    plans,
    pastDueGraceMs: e.PRESSROOM_PAST_DUE_GRACE,
    billing: {
      mode: e.PRESSROOM_BILLING,
      stripe: {
        secretKey: e.PRESSROOM_STRIPE_SECRET_KEY,
        webhookSecret: e.PRESSROOM_STRIPE_WEBHOOK_SECRET,
        prices: parsePrices(e.PRESSROOM_STRIPE_PRICES, plans),
        apiUrl: e.PRESSROOM_STRIPE_API_URL,
      },
    },
    workers: e.PRESSROOM_WORKERS,
    workersTls: {
      ca: e.PRESSROOM_WORKERS_TLS_CA,
      cert: e.PRESSROOM_WORKERS_TLS_CERT,
      key: e.PRESSROOM_WORKERS_TLS_KEY,
    },
    pool: e.PRESSROOM_POOL,
    poolSecret: e.PRESSROOM_POOL_SECRET,
    bodyMaxBytes: e.PRESSROOM_BODY_MAX,
    inFlightMaxBytes: e.PRESSROOM_BYTES_IN_FLIGHT,
    rendererReuse: e.PRESSROOM_RENDERER_REUSE,
    render: {
      renderMs: e.PRESSROOM_RENDER_TIMEOUT,
      output: { maxBytes: e.PRESSROOM_OUTPUT_MAX, tagged: e.PRESSROOM_TAGGED_PDF },
    },
    queue: {
      waitMs: e.PRESSROOM_QUEUE_TIMEOUT,
      waitWithoutWorkersMs: e.PRESSROOM_QUEUE_TIMEOUT_NO_WORKER,
      maxLength: e.PRESSROOM_QUEUE_MAX_RENDERS,
      maxBytes: e.PRESSROOM_QUEUE_MAX_BYTES,
    },
    egress: {
      ports: e.PRESSROOM_EGRESS_PORTS,
      allowPorts: e.PRESSROOM_EGRESS_ALLOW.map(portOf).filter(port => port > 0),
      deny: e.PRESSROOM_EGRESS_DENY,
    },
    asyncRenders: {
      on: e.PRESSROOM_ASYNC,
      maxTtlMs: e.PRESSROOM_ASYNC_TTL_MAX,
      maxBatchBytes: e.PRESSROOM_BATCH_BYTES,
    },
    trial: e.PRESSROOM_TRIAL
      ? { perMinute: e.PRESSROOM_TRIAL_PER_MINUTE, parallel: e.PRESSROOM_TRIAL_PARALLEL }
      : undefined,
    trustedProxies: e.PRESSROOM_TRUSTED_PROXIES,
    logClientAddress: e.PRESSROOM_LOG_CLIENT_ADDRESS,
  };
}
export type ApiConfig = ReturnType<typeof readApiConfig>;
