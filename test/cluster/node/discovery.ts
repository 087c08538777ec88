// Sets the running pods of a cluster as targets of a Prometheus, because the Debian build has no
// Kubernetes service discovery.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Json } from '../kube/api-request.ts';
import type { Cluster } from '../kube/cluster.ts';
import type { Prometheus, Target } from '../prometheus.ts';

const EVERY_MS = 500;

export interface Discovery {
  stop(): Promise<void>;
}

/** Selects running pods with scrape annotations. */
const isScraped = ({ metadata, status }: Json) =>
  metadata.annotations?.['prometheus.io/scrape'] === 'true' &&
  status.phase === 'Running' &&
  status.podIP;

const targetOf = ({ metadata, status }: Json): Target => ({
  address: `${status.podIP}:${metadata.annotations['prometheus.io/port']}`,
  labels: { namespace: metadata.namespace, pod: metadata.name },
});

/**
 * Updates the targets periodically until it is stopped. They stay unchanged while the API server
 * does not respond.
 */
export function discoverPods(cluster: Cluster, prometheus: Prometheus): Discovery {
  let over = false;
  let applied = '';
  const update = async () => {
    const { items } = await cluster.get('/api/v1/pods');
    const targets = items.filter(isScraped).map(targetOf);
    if (JSON.stringify(targets) === applied) return;
    await prometheus.setTargets(targets);
    applied = JSON.stringify(targets);
  };
  const loop = async () => {
    for (; !over; await sleep(EVERY_MS)) await update().catch(() => {});
  };
  const running = loop();
  return {
    stop: () => {
      over = true;
      return running;
    },
  };
}
