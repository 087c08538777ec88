// Tells a Prometheus which pods of a cluster there are, as its own discovery would: Debian's is
// built without that for Kubernetes.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Json } from '../kube/api-request.ts';
import type { Cluster } from '../kube/cluster.ts';
import type { Prometheus, Target } from '../prometheus.ts';

const EVERY_MS = 500;

export interface Discovery {
  stop(): Promise<void>;
}

/** Running pods with the usual annotations. */
const wanted = ({ metadata, status }: Json) =>
  metadata.annotations?.['prometheus.io/scrape'] === 'true' &&
  status.phase === 'Running' &&
  status.podIP;

const targetOf = ({ metadata, status }: Json): Target => ({
  address: `${status.podIP}:${metadata.annotations['prometheus.io/port']}`,
  labels: { namespace: metadata.namespace, pod: metadata.name },
});

/**
 * Looks again and again until it is stopped; while the API server does not answer, the targets
 * stay.
 */
export function discoverPods(cluster: Cluster, prometheus: Prometheus): Discovery {
  let over = false;
  let told = '';
  const look = async () => {
    const { items } = await cluster.get('/api/v1/pods');
    const targets = items.filter(wanted).map(targetOf);
    if (JSON.stringify(targets) === told) return;
    await prometheus.setTargets(targets);
    told = JSON.stringify(targets);
  };
  const loop = async () => {
    for (; !over; await sleep(EVERY_MS)) await look().catch(() => {});
  };
  const running = loop();
  return {
    stop: () => {
      over = true;
      return running;
    },
  };
}
