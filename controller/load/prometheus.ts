// Queries Prometheus. Errors explain the cause for the log and for conditions.
import type { Metrics } from '../../common/operations.ts';

export interface Series {
  labels: Record<string, string>;
  value: number;
}

export interface Prometheus {
  /** Runs an instant query with a vector as the result. Rejects on errors and timeouts. */
  query(promql: string): Promise<Series[]>;
}

interface QueryResponse {
  status?: string;
  error?: string;
  data?: {
    resultType?: string;
    result?: { metric: Record<string, string>; value: [number, string] }[];
  };
}

export function createPrometheus(
  config: { url: string; token: string | undefined; timeoutMs: number },
  metrics: Metrics,
): Prometheus {
  const counted = metrics.counterBy(
    'pressroom_prometheus_queries_total',
    'Prometheus queries by outcome.',
    'outcome',
    ['ok', 'error'],
  );
  const seconds = metrics.histogram(
    'pressroom_prometheus_query_duration_seconds',
    'Duration of Prometheus queries.',
    [],
    [0.005, 0.02, 0.1, 0.5, 1, 2, 5],
  );

  async function run(promql: string): Promise<Series[]> {
    const response = await fetch(`${config.url}/api/v1/query`, {
      method: 'POST',
      body: new URLSearchParams({ query: promql }),
      headers: config.token === undefined ? {} : { authorization: `Bearer ${config.token}` },
      signal: AbortSignal.timeout(config.timeoutMs),
    });
    const text = await readBounded(response);
    const parsed = parseResponse(text);
    if (!response.ok || parsed?.status !== 'success')
      throw new Error(
        `Prometheus returned ${response.status}: ${parsed?.error ?? text.slice(0, 200)}`,
      );
    if (parsed.data?.resultType !== 'vector')
      throw new Error(`Prometheus returned a ${parsed.data?.resultType} instead of a vector`);
    return (parsed.data.result ?? []).map(({ metric, value }) => ({
      labels: metric,
      value: Number(value[1]),
    }));
  }

  return {
    async query(promql) {
      const end = seconds.startTimer();
      try {
        const series = await run(promql);
        counted('ok');
        return series;
      } catch (error) {
        counted('error');
        throw explained(error, config);
      } finally {
        end();
      }
    },
  };
}

/** Limit of a response: 10,000 pods take 3 MB. */
const RESPONSE_MAX_BYTES = 32 * 2 ** 20;

async function readBounded(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > RESPONSE_MAX_BYTES)
      throw new Error(`The response of Prometheus is larger than ${RESPONSE_MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function parseResponse(text: string): QueryResponse | undefined {
  try {
    return JSON.parse(text) as QueryResponse;
  } catch {
    return undefined;
  }
}

/** Replaces `fetch failed` and timeouts by an error with the URL and the cause. */
function explained(error: unknown, { url, timeoutMs }: { url: string; timeoutMs: number }): Error {
  const { name, message, cause } = error as Error & { cause?: { code?: string; message?: string } };
  if (name === 'TimeoutError')
    return new Error(`Prometheus at ${url} did not respond within ${timeoutMs} ms`);
  if (message === 'fetch failed')
    return new Error(`Cannot connect to Prometheus at ${url} (${cause?.code ?? cause?.message})`, {
      cause,
    });
  return error as Error;
}
