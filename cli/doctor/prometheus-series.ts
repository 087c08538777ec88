// Prometheus for `pressroom doctor`: whether it has the series that the controller queries, with the
// labels that it needs.
import { checkError, checkPassed, checkWarning, type DoctorCheck } from './doctor-check.ts';

type Labels = Record<string, string>;

export type PrometheusFacts =
  | 'not configured'
  | { url: string; error: string }
  | { url: string; pool: string; series: Labels[] };

const TIMEOUT_MS = 5_000;

/** The controller reads the queue of API processes and the slots of workers. */
export const QUEUE_METRIC = 'pressroom_queue_depth';
export const SLOTS_METRIC = 'pressroom_slots';
export const BUILD_METRIC = 'pressroom_build_info';

/** Never rejects. */
export async function prometheusFacts(
  url: string | undefined,
  token: string | undefined,
  pool: string,
): Promise<PrometheusFacts> {
  if (url === undefined) return 'not configured';
  const query = `{__name__=~"${QUEUE_METRIC}|${SLOTS_METRIC}|${BUILD_METRIC}"}`;
  try {
    const response = await fetch(`${url.replace(/\/+$/, '')}/api/v1/query`, {
      method: 'POST',
      body: new URLSearchParams({ query }),
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (!response.ok) return { url, error: `status ${response.status}` };
    const { data } = (await response.json()) as { data: { result: { metric: Labels }[] } };
    return { url, pool, series: data.result.map(({ metric }) => metric) };
  } catch (error) {
    const { name, message, cause } = error as Error & { cause?: { code?: string } };
    return { url, error: name === 'SyntaxError' ? 'no JSON' : (cause?.code ?? message) };
  }
}

export function checkPrometheus(facts: PrometheusFacts): DoctorCheck[] {
  const subject = 'Prometheus';
  if (facts === 'not configured')
    return [
      checkPassed(
        subject,
        'Not checked: its URL is not known here. Name it with --prometheus or PRESSROOM_PROMETHEUS_URL.',
      ),
    ];
  if ('error' in facts)
    return [
      checkError(
        subject,
        `Prometheus at ${facts.url} does not answer queries (${facts.error}).`,
        'Check the URL, the token and the network policies; a pool keeps its size while the controller cannot query Prometheus.',
      ),
    ];
  return [
    seriesOf(facts, QUEUE_METRIC, 'API', 'API processes'),
    seriesOf(facts, SLOTS_METRIC, 'workers', 'workers'),
  ];
}

function seriesOf(
  { series, pool }: Extract<PrometheusFacts, { series: unknown }>,
  metric: string,
  target: string,
  what: string,
): DoctorCheck {
  const subject = `Prometheus, ${target}`;
  const named = series.filter(({ __name__ }) => __name__ === metric);
  const ofPool = named.filter(labels => labels.pool === pool);
  const good = ofPool.filter(({ namespace = '' }) => namespace !== '');
  if (good.length > 0) {
    const pods = new Set(good.map(({ pod, instance }) => pod ?? instance));
    const found = `${metric} of ${pods.size} ${what} of the pool ${pool}`;
    return good.every(({ pod }) => pod !== undefined)
      ? checkPassed(subject, `Prometheus has ${found}.`)
      : checkWarning(
          subject,
          `${found} has no label pod.`,
          'Set the label pod in the scrape configuration, so that the controller knows which pods are idle.',
        );
  }
  if (ofPool.length > 0)
    return checkError(
      subject,
      `${metric} of the pool ${pool} has no label namespace.`,
      'Set the label namespace in the scrape configuration, because the controller finds the series of a pool by it.',
    );
  if (named.some(({ exported_pool }) => exported_pool === pool))
    return checkError(
      subject,
      `${metric} has the label exported_pool instead of pool.`,
      'Set honorLabels in the PodMonitor (honor_labels in the scrape configuration).',
    );
  return checkError(
    subject,
    `Prometheus has no series ${metric} of the pool ${pool}.`,
    `Let Prometheus scrape port 9090 of the ${target} (chart: podMonitor.enabled).`,
  );
}

/** The controller's series have no pool. Undefined when Prometheus cannot be queried. */
export const controllerReleases = (facts: PrometheusFacts): string[] | undefined =>
  typeof facts === 'string' || 'error' in facts
    ? undefined
    : facts.series
        .filter(
          ({ __name__, pool, exported_pool }) =>
            __name__ === BUILD_METRIC && pool === undefined && exported_pool === undefined,
        )
        .flatMap(({ version }) => version ?? []);
