// The running API process of this pod for `pressroom doctor`: readiness, release, and whether the
// peers that send X-Forwarded-For are trusted.
import type { ApiConfig } from '../../api/config.ts';
import { checkError, checkPassed, checkWarning, type DoctorCheck } from './doctor-check.ts';

export interface ApiProcessFacts {
  /** Its address in this pod. */
  url: string;
  /** Answer of /readyz, or why there is none. */
  readiness:
    | { ready: boolean; database: string; workers: number; slots: number }
    | { error: string };
  /** From its metrics; undefined when the operations port does not respond. */
  metrics: { release: string | undefined; trusted: number; untrusted: number } | undefined;
  trustedProxies: number;
}

const TIMEOUT_MS = 3_000;

/** A process that listens on all addresses listens on loopback, too. */
function localUrl(host: string, port: number): string {
  const near = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${near.includes(':') ? `[${near}]` : near}:${port}`;
}

const ask = (url: string) =>
  fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) });

async function readinessOf(url: string): Promise<ApiProcessFacts['readiness']> {
  try {
    const response = await ask(`${url}/readyz`);
    const { checks } = (await response.json()) as {
      checks: { database: { status: string }; workers: { ready: number; slots: number } };
    };
    const { ready: workers, slots } = checks.workers;
    return { ready: response.ok, database: checks.database.status, workers, slots };
  } catch (error) {
    const { message, cause } = error as Error & { cause?: { code?: string } };
    return { error: cause?.code ?? message };
  }
}

/** Undefined when the text has no such series. */
const sampleOf = (text: string, series: RegExp) => series.exec(text)?.[1];

async function metricsOf(url: string): Promise<ApiProcessFacts['metrics']> {
  try {
    const text = await (await ask(`${url}/metrics`)).text();
    const forwarded = (peer: string) =>
      Number(
        sampleOf(
          text,
          new RegExp(
            `^pressroom_http_forwarded_requests_total\\{[^}]*type="${peer}"[^}]*\\} (\\S+)`,
            'm',
          ),
        ) ?? 0,
      );
    return {
      release: sampleOf(text, /^pressroom_build_info\{[^}]*version="([^"]*)"/m),
      trusted: forwarded('trusted'),
      untrusted: forwarded('untrusted'),
    };
  } catch {
    return undefined;
  }
}

/** `operations`: host and port of its operations server. */
export async function apiProcessFacts(
  { http, trustedProxies }: Pick<ApiConfig, 'http' | 'trustedProxies'>,
  operations: { host: string; port: number },
): Promise<ApiProcessFacts> {
  const url = localUrl(http.host, http.port);
  const [readiness, metrics] = await Promise.all([
    readinessOf(url),
    metricsOf(localUrl(operations.host, operations.port)),
  ]);
  return { url, readiness, metrics, trustedProxies: trustedProxies.length };
}

export function checkApiProcess({ url, readiness }: ApiProcessFacts): DoctorCheck {
  const subject = 'API';
  if ('error' in readiness)
    return checkError(
      subject,
      `No API process responds at ${url} (${readiness.error}).`,
      'Run this command in a pod of the API, and check its log.',
    );
  const { ready, database, workers, slots } = readiness;
  const message = `The process at ${url} ${ready ? 'is ready' : 'is not ready'}: database ${database}, ${workers} workers with ${slots} slots.`;
  return ready
    ? checkPassed(subject, message)
    : checkError(
        subject,
        message,
        'Fix the errors of the database or of the workers in this list.',
      );
}

export function checkProxies({ metrics, trustedProxies }: ApiProcessFacts): DoctorCheck {
  const subject = 'Proxies';
  if (!metrics)
    return checkWarning(
      subject,
      'The operations port of the API does not respond, so it is not known whether requests come through a proxy.',
      'Check PRESSROOM_OPERATIONS_PORT.',
    );
  const { trusted, untrusted } = metrics;
  const configured = `${trustedProxies} trusted ${trustedProxies === 1 ? 'network' : 'networks'}`;
  if (untrusted > trusted)
    return checkWarning(
      subject,
      `${untrusted} of ${trusted + untrusted} requests with X-Forwarded-For came from a peer outside the ${configured}, so their callers share one address.`,
      'Set PRESSROOM_TRUSTED_PROXIES (chart: api.trustedProxies) to the addresses of the reverse proxies.',
    );
  return checkPassed(
    subject,
    trusted + untrusted === 0
      ? `No request with X-Forwarded-For has reached this process; ${configured}.`
      : `X-Forwarded-For is trusted for ${trusted} of ${trusted + untrusted} requests that have it; ${configured}.`,
  );
}
