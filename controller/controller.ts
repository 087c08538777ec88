// Wires the controller: watches, load cache, leader election and reconcile loop. Returns the
// services in start order.
import { randomUUID } from 'node:crypto';
import type { KubeConfig } from '@kubernetes/client-node';
import type { Service } from '../common/lifecycle.ts';
import type { Log } from '../common/log.ts';
import type { Metrics } from '../common/operations.ts';
import { type BrowserPool, PLURAL } from '../crds/browser-pool.ts';
import { createAct } from './act.ts';
import type { ControllerConfig } from './config.ts';
import { poolMetrics } from './controller-metrics.ts';
import { createApplied } from './kubernetes/applied.ts';
import { createEvents } from './kubernetes/events.ts';
import { Leader } from './kubernetes/leader.ts';
import { kubernetes, type ObjectList, pathOf } from './kubernetes/resources.ts';
import { Transport } from './kubernetes/transport.ts';
import { createWatches } from './kubernetes/watches.ts';
import { LoadCache } from './load/load-cache.ts';
import { createPrometheus, type Prometheus } from './load/prometheus.ts';
import { MANAGED_SELECTOR, POOL_LABEL } from './owned-resources.ts';
import { Reconciler } from './reconcile.ts';
import { ReconcileLoop } from './reconcile-loop.ts';
import { createWorkQueue } from './work-queue.ts';

/** Time limit of a call to the API server. */
const CALL_MS = 10_000;
/** Shorter, so that a leader without a response can retry before its lease expires. */
const LEASE_CALL_MS = 4_000;
/** Time limit of a Prometheus query. */
const PROMETHEUS_MS = 5_000;

/** Counts the calls to the Kubernetes API. */
function countedTransport(kubeConfig: KubeConfig, metrics: Metrics): Transport {
  const requests = metrics.counter(
    'pressroom_kubernetes_requests_total',
    'Requests to the Kubernetes API by verb, resource and outcome.',
    ['verb', 'resource', 'outcome'],
  );
  return new Transport(kubeConfig, {
    timeoutMs: CALL_MS,
    userAgent: 'pressroom-controller',
    count: ({ verb, resource }, outcome) => requests.inc({ verb, resource, outcome }),
  });
}

function prometheusOf(
  { prometheus: { url, token } }: ControllerConfig,
  metrics: Metrics,
): Prometheus | undefined {
  return url === undefined
    ? undefined
    : createPrometheus({ url, token, timeoutMs: PROMETHEUS_MS }, metrics);
}

/** Whether a controller has written the status of a pool. True if that is unknown. */
async function hasStatusOfPools(
  transport: Transport,
  namespaces: readonly string[],
): Promise<boolean> {
  const scopes = namespaces.length > 0 ? namespaces : [undefined];
  const lists = scopes.map(namespace =>
    transport.call<ObjectList<BrowserPool>>({
      verb: 'list',
      resource: PLURAL,
      path: pathOf(PLURAL, namespace),
    }),
  );
  return Promise.all(lists).then(
    found => found.some(({ items }) => items.some(({ status }) => status !== undefined)),
    () => true,
  );
}

export function createController(
  config: ControllerConfig,
  kubeConfig: KubeConfig,
  log: Log,
  metrics: Metrics,
) {
  const { namespaces, lease } = config;
  const transport = countedTransport(kubeConfig, metrics);
  const leader = new Leader({
    api: kubernetes(transport, { timeoutMs: LEASE_CALL_MS }),
    namespace: lease.namespace,
    name: lease.name,
    identity: `${lease.holder}_${randomUUID()}`,
    log,
    onChange: leading => (leading ? begin() : forget()),
    hasLed: () => hasStatusOfPools(transport, namespaces),
  });
  metrics.gauge(
    'pressroom_controller_leader',
    'Whether this controller is the leader: 1 or 0.',
    [],
    gauge => gauge.set(leader.leading() ? 1 : 0),
  );
  const api = kubernetes(transport, { mayWrite: () => leader.assertLeading() });
  const queue = createWorkQueue(metrics);
  const watches = createWatches({
    transport,
    namespaces,
    selector: MANAGED_SELECTOR,
    poolLabel: POOL_LABEL,
    log,
    metrics,
    onChange: key => leader.leading() && queue.add(key),
  });
  const loadCache = new LoadCache({
    prometheus: prometheusOf(config, metrics),
    namespaces,
    intervalMs: config.prometheus.intervalMs,
    isLeading: () => leader.leading(),
    log,
    metrics,
    // A pool that failed waits for its retry: a new load does not resolve the failure.
    onRefreshed: () => addAll(queue.addUnlessFailing),
  });
  const events = createEvents({ api, instance: lease.holder, log });
  const applied = createApplied(api);
  const pools = poolMetrics(metrics);
  const act = createAct({ api, applied, find: watches.find });
  const reconciler = new Reconciler({
    api,
    store: watches,
    loadCache,
    act,
    events,
    metrics: pools,
    log,
  });
  const loop = new ReconcileLoop({
    queue,
    reconciler,
    leader,
    watches,
    loadCache,
    events,
    log,
    metrics,
  });

  function addAll(add: (key: string) => void): void {
    if (!leader.leading()) return;
    for (const key of watches.poolKeys()) add(key);
  }

  function begin(): void {
    forget();
    loadCache.begin();
    addAll(queue.add);
  }

  /** Clears state that may be outdated, because another controller leads or has led. */
  function forget(): void {
    applied.clear();
    reconciler.forgetAll();
    pools.forgetAll();
  }

  const connection: Service = {
    name: 'kubernetes',
    start: async () => {},
    stop: async () => transport.close(),
  };
  return {
    services: [connection, ...watches.services, leader, loadCache, loop],
    /** Whether the caches are filled, so that this process can lead. */
    ready: () => watches.synced(),
  };
}
