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

/** Validates at startup a value that is parsed again where it is used. */
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
    'Concurrent renders in this worker (default: the number of cores, at least 2).',
  ),
  PRESSROOM_GATEWAY_HOST: textVariable('0.0.0.0', 'an address').describe(
    'Address on which the worker accepts connections from the API.',
  ),
  PRESSROOM_GATEWAY_PORT: integer('9222', 0, 65_535).describe(
    'Port on which the worker accepts connections from the API.',
  ),
  PRESSROOM_GATEWAY_TLS_CERT: pemFile().describe(
    'TLS certificate of the gateway. Requires the key; the API then connects with `wss://`.',
  ),
  PRESSROOM_GATEWAY_TLS_KEY: pemFile().describe('Private key of the TLS certificate.'),
  PRESSROOM_GATEWAY_TLS_CLIENT_CA: pemFile().describe(
    'Mutual TLS: clients must present a certificate signed by this CA.',
  ),
  PRESSROOM_CHROME: textVariable(undefined, 'a path').describe(
    'Path of the Chrome headless shell (default: the first one on PATH). A full browser is rejected: its WebRTC traffic bypasses the egress guard.',
  ),
  PRESSROOM_CHROME_SANDBOX: onOff('on').describe(
    "Chrome's own sandbox. If it is not available, the worker does not start unless this is `off`.",
  ),
  PRESSROOM_CHROME_UID: integer('64117', 1, 4_294_967_294).describe(
    'User and group ID of Chrome when the worker runs as root. Chrome never runs as root.',
  ),
  PRESSROOM_CHROME_RECYCLE_RENDERS: integer('2000', 1, 1e9).describe(
    "Renders after which a slot's Chrome is replaced.",
  ),
  PRESSROOM_CHROME_RECYCLE_MEMORY: bytes('256MiB', 16 * 2 ** 20).describe(
    "Memory growth between renders after which a slot's Chrome is replaced.",
  ),
  PRESSROOM_CHROME_PER_ACCOUNT: onOff('off').describe(
    '`on`: a Chrome is restarted before it renders for another account, so that no browser process serves two accounts.',
  ),
  PRESSROOM_WARM_PAGE_RENDERS: integer('50', 1, 1e6).describe(
    'Renders after which a sealed page for static documents is closed (PRESSROOM_RENDERER_REUSE of the API).',
  ),
  PRESSROOM_WARM_PAGE_IDLE: duration('10s', 100).describe(
    'Time without a render after which a sealed page is closed.',
  ),
  PRESSROOM_WARM_PAGE_MEMORY: bytes('256MiB', 16 * 2 ** 20).describe(
    'A sealed page is closed when the renderer processes of its Chrome use more memory after a render.',
  ),
  PRESSROOM_CHROME_PROBE_INTERVAL: duration('5s', 500).describe(
    'Interval of liveness probes to Chrome, and the time limit for a response. A Chrome that does not respond in time is killed.',
  ),
  PRESSROOM_RENDER_MEMORY: bytes('1GiB', 64 * 2 ** 20).describe(
    'Memory limit of one render, over all processes of its Chrome. Beyond it the render fails with `page_crash`.',
  ),
  PRESSROOM_EGRESS_MAX_BYTES: bytes('100MiB').describe(
    'Bytes that one render may send and receive, in total.',
  ),
  PRESSROOM_EGRESS_MAX_REQUESTS: integer('500', 1, 1e6).describe(
    'Requests and tunnels that one render may open.',
  ),
  PRESSROOM_EGRESS_MAX_CONNECTIONS: integer('50', 1, 10_000).describe(
    'Concurrent connections of one render.',
  ),
  PRESSROOM_EGRESS_PROXY: parsed(secret(), checkedBy(parseUpstreamProxy)).describe(
    'HTTP proxy of your company for all traffic of pages, such as `http://proxy.corp:3128`.',
  ),
  PRESSROOM_EGRESS_CA: parsed(pemFile(), checkedBy(certificatesIn)).describe(
    'CA certificates that pages trust in addition to the public ones, for example those of your company or of a TLS-inspecting proxy. Requires certutil (Debian, Ubuntu: libnss3-tools), which the image includes.',
  ),
  PRESSROOM_DNS_SERVERS: parsed(
    listVariable('', 'addresses, each with an optional `:port`'),
    parseNameServers,
  ).describe('Name servers for pages (default: those of the system).'),
});

/** Reads the worker's environment variables. Throws ConfigError. */
export function readWorkerConfig(env: NodeJS.ProcessEnv) {
  const e = readConfig(workerVariables, env);
  const [cert, key, ca] = [
    e.PRESSROOM_GATEWAY_TLS_CERT,
    e.PRESSROOM_GATEWAY_TLS_KEY,
    e.PRESSROOM_GATEWAY_TLS_CLIENT_CA,
  ];
  if ((cert === undefined) !== (key === undefined) || (ca !== undefined && cert === undefined))
    throw new ConfigError(
      'Set PRESSROOM_GATEWAY_TLS_CERT and PRESSROOM_GATEWAY_TLS_KEY together. PRESSROOM_GATEWAY_TLS_CLIENT_CA requires both.',
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
      caCertificates: e.PRESSROOM_EGRESS_CA,
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
      warmPage: {
        renders: e.PRESSROOM_WARM_PAGE_RENDERS,
        idleMs: e.PRESSROOM_WARM_PAGE_IDLE,
        bytes: e.PRESSROOM_WARM_PAGE_MEMORY,
      },
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
