// The worker's environment variables, and the nested shape that the rest of the worker reads.
import { availableParallelism } from 'node:os';
import { z } from 'zod';
import {
  bytes,
  ConfigError,
  duration,
  integer,
  listVariable,
  onOff,
  parsed,
  pemFile,
  poolVariables,
  readConfig,
  secret,
  textVariable,
} from '../common/config.ts';
import { certificatesIn } from './browser/ca-certificates.ts';
import { parseAllowList } from './egress/allow-list.ts';
import { parseNameServers } from './egress/resolve.ts';
import { parseUpstreamProxy } from './egress/upstream.ts';

/** For what is read later, from the text: a wrong one is told at the start. */
const checkedBy =
  (parse: (text: string) => unknown) =>
  (text: string | undefined): string | undefined => {
    if (text !== undefined) parse(text);
    return text;
  };

export const workerVariables = z.object({
  ...poolVariables.shape,
  PRESSROOM_EGRESS_ALLOW: parsed(poolVariables.shape.PRESSROOM_EGRESS_ALLOW, parseAllowList),
  PRESSROOM_SLOTS: integer(String(Math.max(2, availableParallelism())), 1, 256).describe(
    'Renders at once in this worker (default: the cores, at least 2).',
  ),
  PRESSROOM_GATEWAY_HOST: textVariable('0.0.0.0', 'an address').describe(
    'Address on which the worker waits for the API.',
  ),
  PRESSROOM_GATEWAY_PORT: integer('9222', 0, 65_535).describe(
    'Port on which the worker waits for the API.',
  ),
  PRESSROOM_GATEWAY_TLS_CERT: pemFile().describe(
    'With the key: the gateway speaks TLS, and the API finds it by `wss://`.',
  ),
  PRESSROOM_GATEWAY_TLS_KEY: pemFile().describe("The certificate's key."),
  PRESSROOM_GATEWAY_TLS_CLIENT_CA: pemFile().describe(
    'Whoever connects must show a certificate signed by this authority.',
  ),
  PRESSROOM_CHROME: textVariable(undefined, 'a path').describe(
    'The headless shell of Chrome to run (default: the first found on PATH). A full browser is refused: WebRTC would pass its guard.',
  ),
  PRESSROOM_CHROME_SANDBOX: onOff('on').describe(
    "Chrome's own sandbox. Without a usable one the worker refuses to start unless this is `off`.",
  ),
  PRESSROOM_CHROME_UID: integer('64117', 1, 4_294_967_294).describe(
    'The user and group id that Chrome runs as when the worker is root (root itself is never used).',
  ),
  PRESSROOM_CHROME_RECYCLE_RENDERS: integer('2000', 1, 1e9).describe(
    "A slot's Chrome is replaced after so many renders.",
  ),
  PRESSROOM_CHROME_RECYCLE_MEMORY: bytes('256MiB', 16 * 2 ** 20).describe(
    "A slot's Chrome is replaced when it has grown by so much between renders.",
  ),
  PRESSROOM_CHROME_PER_ACCOUNT: onOff('off').describe(
    "`on`: a slot's Chrome is restarted before it renders for another account, so that no browser process ever serves two.",
  ),
  PRESSROOM_CHROME_PROBE_INTERVAL: duration('5s', 500).describe(
    'How often Chrome is asked for a sign of life; it is killed when it takes as long to answer.',
  ),
  PRESSROOM_RENDER_MEMORY: bytes('1GiB', 64 * 2 ** 20).describe(
    'The most memory that one render may use, all processes of its Chrome together; it ends with `page_crash` beyond it.',
  ),
  PRESSROOM_EGRESS_MAX_BYTES: bytes('100MiB').describe(
    'Bytes that one render may move, both ways together.',
  ),
  PRESSROOM_EGRESS_MAX_REQUESTS: integer('500', 1, 1e6).describe(
    'Requests and tunnels that one render may open.',
  ),
  PRESSROOM_EGRESS_MAX_CONNECTIONS: integer('50', 1, 10_000).describe(
    'Connections that one render may hold at once.',
  ),
  PRESSROOM_EGRESS_PROXY: parsed(secret(), checkedBy(parseUpstreamProxy)).describe(
    'A proxy of your company through which all pages are fetched, such as `http://proxy.corp:3128`.',
  ),
  PRESSROOM_EGRESS_CA: parsed(pemFile(), checkedBy(certificatesIn)).describe(
    'Authorities that the certificates of pages may be signed by, besides the public ones: that of your company, or of a proxy that opens TLS. Needs certutil (Debian, Ubuntu: libnss3-tools), which the image has.',
  ),
  PRESSROOM_DNS_SERVERS: parsed(
    listVariable('', 'addresses, each with an optional `:port`'),
    parseNameServers,
  ).describe('Name servers for the pages (default: those of the system).'),
});

/** Reads the worker's part of the environment. Throws ConfigError. */
export function readWorkerConfig(env: NodeJS.ProcessEnv) {
  const e = readConfig(workerVariables, env);
  const [cert, key, ca] = [
    e.PRESSROOM_GATEWAY_TLS_CERT,
    e.PRESSROOM_GATEWAY_TLS_KEY,
    e.PRESSROOM_GATEWAY_TLS_CLIENT_CA,
  ];
  if ((cert === undefined) !== (key === undefined) || (ca !== undefined && cert === undefined))
    throw new ConfigError(
      'PRESSROOM_GATEWAY_TLS_CERT and PRESSROOM_GATEWAY_TLS_KEY go together, and PRESSROOM_GATEWAY_TLS_CLIENT_CA only with them',
    );
  return {
    pool: e.PRESSROOM_POOL,
    secret: e.PRESSROOM_POOL_SECRET,
    capacity: e.PRESSROOM_SLOTS,
    gateway: {
      host: e.PRESSROOM_GATEWAY_HOST,
      port: e.PRESSROOM_GATEWAY_PORT,
      ...(cert !== undefined && key !== undefined && { tls: { cert, key, ca } }),
    },
    chrome: {
      executable: e.PRESSROOM_CHROME,
      sandbox: e.PRESSROOM_CHROME_SANDBOX,
      uid: process.getuid?.() === 0 ? e.PRESSROOM_CHROME_UID : undefined,
      authorities: e.PRESSROOM_EGRESS_CA,
      heapMiB: Math.floor(e.PRESSROOM_RENDER_MEMORY / 2 ** 20),
      startTimeoutMs: 20_000,
      ownGroup: true,
    },
    chromePerAccount: e.PRESSROOM_CHROME_PER_ACCOUNT,
    limits: {
      recycleRenders: e.PRESSROOM_CHROME_RECYCLE_RENDERS,
      recycleBytes: e.PRESSROOM_CHROME_RECYCLE_MEMORY,
      probeMs: e.PRESSROOM_CHROME_PROBE_INTERVAL,
      maxBytes: e.PRESSROOM_RENDER_MEMORY,
    },
    egress: {
      allow: e.PRESSROOM_EGRESS_ALLOW,
      deny: e.PRESSROOM_EGRESS_DENY,
      ports: e.PRESSROOM_EGRESS_PORTS,
      dnsServers: e.PRESSROOM_DNS_SERVERS,
      dnsTimeoutMs: 2_000,
      connectTimeoutMs: 10_000,
      idleTimeoutMs: 60_000,
      maxBytes: e.PRESSROOM_EGRESS_MAX_BYTES,
      maxRequests: e.PRESSROOM_EGRESS_MAX_REQUESTS,
      maxConnections: e.PRESSROOM_EGRESS_MAX_CONNECTIONS,
      ...(e.PRESSROOM_EGRESS_PROXY && { upstreamProxy: e.PRESSROOM_EGRESS_PROXY }),
    },
  };
}
export type WorkerConfig = ReturnType<typeof readWorkerConfig>;
