// Asks Prometheus a question. What it cannot answer is an Error whose sentence an SRE can use.
import type { Metrics } from '../../common/operations.ts';

export interface Series {
  labels: Record<string, string>;
  value: number;
}

export interface Prometheus {
  /**
   * An instant query that gives a vector. Rejects when there is no answer in time, or a refusal.
   */
  query(promql: string): Promise<Series[]>;
}

interface Answer {
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
    'Queries to Prometheus, by how they ended.',
    'outcome',
    ['ok', 'error'],
  );
  const seconds = metrics.histogram(
    'pressroom_prometheus_query_duration_seconds',
    'How long Prometheus took to answer.',
    [],
    [0.005, 0.02, 0.1, 0.5, 1, 2, 5],
  );

  async function ask(promql: string): Promise<Series[]> {
    const response = await fetch(`${config.url}/api/v1/query`, {
      method: 'POST',
      body: new URLSearchParams({ query: promql }),
      headers: config.token === undefined ? {} : { authorization: `Bearer ${config.token}` },
      signal: AbortSignal.timeout(config.timeoutMs),
    });
    const text = await readBounded(response);
    const answer = readAnswer(text);
    if (!response.ok || answer?.status !== 'success')
      throw new Error(
        `Prometheus answered ${response.status}: ${answer?.error ?? text.slice(0, 200)}`,
      );
    if (answer.data?.resultType !== 'vector')
      throw new Error(`Prometheus answered with a ${answer.data?.resultType}, not a vector`);
    return (answer.data.result ?? []).map(({ metric, value }) => ({
      labels: metric,
      value: Number(value[1]),
    }));
  }

  return {
    async query(promql) {
      const end = seconds.startTimer();
      try {
        const series = await ask(promql);
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

/** An answer larger than this is not read: 10,000 pods are 3 MB. */
const ANSWER_MAX_BYTES = 32 * 2 ** 20;

async function readBounded(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > ANSWER_MAX_BYTES)
      throw new Error(`the answer of Prometheus is larger than ${ANSWER_MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function readAnswer(text: string): Answer | undefined {
  try {
    return JSON.parse(text) as Answer;
  } catch {
    return undefined;
  }
}

/** `fetch failed` tells nobody anything: its cause does. */
function explained(error: unknown, { url, timeoutMs }: { url: string; timeoutMs: number }): Error {
  const { name, message, cause } = error as Error & { cause?: { code?: string; message?: string } };
  if (name === 'TimeoutError') return new Error(`${url} did not answer within ${timeoutMs} ms`);
  if (message === 'fetch failed')
    return new Error(`${url} cannot be reached (${cause?.code ?? cause?.message})`, { cause });
  return error as Error;
}
