// The API's environment variables, and the nested shape that the rest of the API reads.
import { z } from 'zod';
import {
  bytes,
  ConfigError,
  choice,
  duration,
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
  PRESSROOM_PUBLIC_URL: textVariable(undefined, 'an http(s) URL').describe(
    'Where callers reach the API; every absolute link is made from it (default: `http://localhost:` and the port).',
  ),
  MONGODB_URI: secret().describe(
    'The MongoDB replica set (6.0 or newer). `npm start` manages one by itself when this is not set.',
  ),
  PRESSROOM_PEPPER: secret(16).describe(
    'Keys are stored as an HMAC with this secret. The same for all API processes.',
  ),
  PRESSROOM_PEPPER_PREVIOUS: secret(16).describe(
    'Still accepted while the pepper is being changed.',
  ),
  PRESSROOM_DASHBOARD: onOff('on').describe(
    'The dashboard under `/app` and the management API behind it.',
  ),
  PRESSROOM_SECRET: secret(16).describe(
    'Seals what the dashboard must read again, such as secrets of one-time codes. The same for all API processes; without it there is no dashboard.',
  ),
  ...ssoVariables.shape,
  ...adminVariables.shape,
  PRESSROOM_RENDER_LOG_KEEP: duration('720h', 3600e3, 366 * 24 * 3600e3).describe(
    'How long the dashboard keeps the log of renders.',
  ),
  PRESSROOM_MCP: onOff('on').describe(
    '`/mcp`, the tool by which Claude, ChatGPT and others render in the name of a person. Needs the dashboard.',
  ),
  PRESSROOM_MCP_DCR: onOff('on').describe(
    'Lets apps register themselves at `/oauth/register`, as most do.',
  ),
  PRESSROOM_MCP_CIMD: onOff('on').describe(
    'Lets apps describe themselves by a document at an https address of theirs, which the API then fetches. Only public addresses are asked.',
  ),
  PRESSROOM_MCP_LINK_TTL: duration('30m', 60e3, 24 * 3600e3).describe(
    'How long a link to a PDF works that the tool has made.',
  ),
  PRESSROOM_MCP_LINK_BYTES: bytes('512MiB', 2 ** 20).describe(
    'PDFs that one account keeps for such links at a time.',
  ),
  PRESSROOM_PLANS: listVariable(
    '',
    'plans such as `free=1,team=16:50000` (name, parallel renders, optional monthly quota for display)',
  ).describe(
    'Plans that are added to or replace the built-in ones (free=1, starter=2, growth=4, scale=8).',
  ),
  PRESSROOM_PAST_DUE_GRACE: duration('168h', 0, 366 * 24 * 3600e3).describe(
    'How long an account in the state `past_due` is still served.',
  ),
  PRESSROOM_BILLING: choice(BILLING_MODES, 'manual').describe(
    'Who sets plan and state of accounts: `manual` the operator, `stripe` what is paid there, `none` nobody, and every account is served.',
  ),
  PRESSROOM_STRIPE_SECRET_KEY: secret(8).describe(
    'A secret or restricted key of Stripe. Needed with `PRESSROOM_BILLING=stripe`.',
  ),
  PRESSROOM_STRIPE_WEBHOOK_SECRET: secret(8).describe(
    'Signs what Stripe sends to `/console/stripe/webhook`. Needed with `PRESSROOM_BILLING=stripe`.',
  ),
  PRESSROOM_STRIPE_PRICES: listVariable(
    '',
    'prices such as `starter=price_1Abc,growth=price_2Def`',
  ).describe(
    'Which price of Stripe is which plan. Of several of one plan the first is sold; the others are of those who bought before.',
  ),
  PRESSROOM_STRIPE_API_URL: textVariable('https://api.stripe.com', 'an http(s) URL').describe(
    'Where Stripe is reached: itself, or a proxy of it.',
  ),
  PRESSROOM_WORKERS: listVariable(
    'ws://localhost:9222',
    'ws:// addresses, or one dns://name:port',
  ).describe(
    'The workers: addresses, or the name of a headless Service whose every address is a worker.',
  ),
  PRESSROOM_WORKERS_TLS_CA: pemFile().describe(
    'The authority of the certificates of `wss://` workers (default: those that Node trusts).',
  ),
  PRESSROOM_WORKERS_TLS_CERT: pemFile().describe(
    'The certificate that the API shows to `wss://` workers.',
  ),
  PRESSROOM_WORKERS_TLS_KEY: pemFile().describe("That certificate's key."),
  ...poolVariables.shape,
  PRESSROOM_BODY_MAX: bytes('10MiB', 1_024).describe('The largest request body.'),
  PRESSROOM_BYTES_IN_FLIGHT: bytes('512MiB', 2 ** 20).describe(
    'Memory that one API process holds for bodies (three times their size) and PDFs; beyond it calls are refused as `overloaded`. One account leaves a quarter of it free (docs/limits.md).',
  ),
  PRESSROOM_RENDER_TIMEOUT: duration('60s', 1_000, 3600e3).describe(
    'The longest that one render may take on its page; `wait_delay` is added.',
  ),
  PRESSROOM_OUTPUT_MAX: bytes('100MiB', 1_024).describe('The largest PDF.'),
  PRESSROOM_TAGGED_PDF: onOff('off').describe(
    'Tags PDFs for screen readers: twice the time, and several times the size for large tables.',
  ),
  PRESSROOM_QUEUE_TIMEOUT: duration('30s', 100).describe(
    'How long a render waits for a free slot before it is refused.',
  ),
  PRESSROOM_QUEUE_TIMEOUT_NO_WORKER: duration('120s', 100).describe(
    'The same while no worker is known at all, as when a pool grows from zero.',
  ),
  PRESSROOM_QUEUE_MAX_RENDERS: integer('1000', 1, 1e6).describe(
    'Renders that may wait in one API process.',
  ),
  PRESSROOM_QUEUE_MAX_BYTES: bytes('256MiB', 1_024).describe(
    'Bytes of bodies that may wait in one API process.',
  ),
  PRESSROOM_TRIAL: onOff('on').describe(
    '`POST /v1/trial/render`, which renders without a key. When it is off the path does not exist.',
  ),
  PRESSROOM_TRIAL_PER_MINUTE: integer('5', 1, 1_000).describe(
    'Trial renders a minute of one address (IPv6: of one /64), over all API processes.',
  ),
  PRESSROOM_TRIAL_PARALLEL: integer('2', 1, 1_000).describe(
    'Trial renders at once over all API processes; never more than a quarter of the slots, or one.',
  ),
  PRESSROOM_TRUSTED_PROXIES: listVariable('', 'addresses and CIDRs').describe(
    'Proxies whose `X-Forwarded-For` is believed.',
  ),
  PRESSROOM_DRAIN_DELAY: duration('5s', 0, 300e3).describe(
    'How long a stopping API still accepts calls, until load balancers have noticed.',
  ),
});

const portOf = (entry: string) => Number(/(?:^[^:]*|\]):(\d+)$/.exec(entry)?.[1]);

/** Reads the API's part of the environment. Throws ConfigError. */
export function readApiConfig(env: NodeJS.ProcessEnv) {
  const e = readConfig(apiVariables, env);
  const publicUrl = e.PRESSROOM_PUBLIC_URL ?? `http://localhost:${e.PRESSROOM_PORT}`;
  if (!/^https?:\/\//.test(publicUrl) || !URL.canParse(publicUrl))
    throw new ConfigError(`PRESSROOM_PUBLIC_URL=${publicUrl}: accepted is an http(s) URL`);
  if ((e.PRESSROOM_WORKERS_TLS_CERT === undefined) !== (e.PRESSROOM_WORKERS_TLS_KEY === undefined))
    throw new ConfigError('PRESSROOM_WORKERS_TLS_CERT and PRESSROOM_WORKERS_TLS_KEY go together');
  if (!/^https?:\/\//.test(e.PRESSROOM_STRIPE_API_URL) || !URL.canParse(e.PRESSROOM_STRIPE_API_URL))
    throw new ConfigError(
      `PRESSROOM_STRIPE_API_URL=${e.PRESSROOM_STRIPE_API_URL}: accepted is an http(s) URL`,
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
    trial: e.PRESSROOM_TRIAL
      ? { perMinute: e.PRESSROOM_TRIAL_PER_MINUTE, parallel: e.PRESSROOM_TRIAL_PARALLEL }
      : undefined,
    trustedProxies: e.PRESSROOM_TRUSTED_PROXIES,
  };
}
export type ApiConfig = ReturnType<typeof readApiConfig>;
