// Wires the controller: watches, loads, leader election, and the line of pools that are looked at. Returns the services in the order in which they start.
import { randomUUID } from 'node:crypto';
import type { KubeConfig } from '@kubernetes/client-node';
import type { Service } from '../common/lifecycle.ts';
import type { Log } from '../common/log.ts';
import type { Metrics } from '../common/operations.ts';
import { createAct } from './act.ts';
import { MANAGED_BY, POOL_LABEL } from './children.ts';
import type { ControllerConfig } from './config.ts';
import { poolMetrics } from './controller-metrics.ts';
import { createApplied } from './kubernetes/applied.ts';
import { createEvents } from './kubernetes/events.ts';
import { createLeader, NotLeader } from './kubernetes/leader.ts';
import { kubernetes } from './kubernetes/resources.ts';
import { createTransport, hasStatus } from './kubernetes/transport.ts';
import { createWatches } from './kubernetes/watches.ts';
import { createLoads } from './loads.ts';
import { createPrometheus } from './prometheus.ts';
import { createReconcile } from './reconcile.ts';
import { createWorkQueue } from './work-queue.ts';

/** The longest that one call to the API server may take. */
const CALL_MS = 10_000;
/** A leader that gets no answer must be able to ask again before it has to stop. */
const LEASE_CALL_MS = 4_000;
/** The longest that Prometheus may take. */
const PROMETHEUS_MS = 5_000;
/** Pools that are looked at at once. */
const HANDS = 8;
/** How soon a pool is looked at that came before the first news of the load. */
const NOT_BEGUN_MS = 100;

const namespaceOf = (key: string) => key.split('/', 1)[0]!;

export interface Controller {
  services: Service[];
  /** Whether it has read all that it must know to act, and to take over. */
  ready(): boolean;
}

export function createController(config: ControllerConfig, kubeConfig: KubeConfig, log: Log, metrics: Metrics): Controller {
  const requests = metrics.counter('pressroom_kubernetes_requests_total', 'Calls to the Kubernetes API, by how they ended.', [
    'verb',
    'resource',
    'outcome',
  ]);
  const transport = createTransport(kubeConfig, {
    timeoutMs: CALL_MS,
    userAgent: 'pressroom-controller',
    count: ({ verb, resource }, outcome) => requests.inc({ verb, resource, outcome }),
  });
  const leader = createLeader({
    api: kubernetes(transport, { timeoutMs: LEASE_CALL_MS }),
    namespace: config.lease.namespace,
    name: config.lease.name,
    identity: `${config.lease.holder}_${randomUUID()}`,
    log,
    onChange: leading => (leading ? begin() : forget()),
  });
  metrics.gauge('pressroom_controller_leader', 'Whether this controller is the one that acts: 1 or 0.', [], gauge =>
    gauge.set(leader.leading() ? 1 : 0),
  );
  const api = kubernetes(transport, { mayWrite: leader.assertLeading });
  const queue = createWorkQueue(metrics);
  const watches = createWatches({
    transport,
    namespaces: config.namespaces,
    selector: Object.entries(MANAGED_BY)
      .map(([label, value]) => `${label}=${value}`)
      .join(','),
    poolLabel: POOL_LABEL,
    log,
    metrics,
    onChange: key => leader.leading() && queue.add(key),
  });
  const { url, token, intervalMs } = config.prometheus;
  const prometheus = url === undefined ? undefined : createPrometheus({ url, token, timeoutMs: PROMETHEUS_MS }, metrics);
  const loads = createLoads({
    prometheus,
    namespaces: config.namespaces,
    intervalMs,
    wanted: leader.leading,
    log,
    metrics,
    // What fails waits for its time: that there is news of the load mends nothing.
    onLooked: () => addAll(queue.addUnlessFailing),
  });
  const events = createEvents({ api, instance: config.lease.holder, log });
  const applied = createApplied(api);
  const pools = poolMetrics(metrics);
  const act = createAct({ api, applied, find: watches.find });
  const reconcile = createReconcile({ api, known: watches, loads, act, events, metrics: pools, log });
  const seconds = metrics.histogram(
    'pressroom_reconcile_duration_seconds',
    'How long a look at a pool took, by how it ended.',
    ['outcome'],
    [0.001, 0.005, 0.02, 0.1, 0.5, 1, 5, 10],
  );
  // A rate does not see the first step of a series that was not there before it.
  for (const outcome of ['ok', 'conflict', 'error']) seconds.zero({ outcome });

  const lastFailure = new Map<string, string>();

  function addAll(add: (key: string) => void): void {
    if (!leader.leading()) return;
    for (const key of watches.poolKeys()) add(key);
  }

  function begin(): void {
    forget();
    loads.begin();
    addAll(queue.add);
  }

  /** What was known of a time before may be wrong: somebody else has acted, or will. */
  function forget(): void {
    applied.clear();
    reconcile.forgetAll();
    pools.forgetAll();
  }

  async function work(key: string): Promise<void> {
    // Half a list would look like pods that are gone. It is added again with the next news of the load.
    if (!leader.leading() || !watches.synced(namespaceOf(key))) return;
    if (!loads.begun()) return queue.addAfter(key, NOT_BEGUN_MS);
    const end = seconds.startTimer();
    try {
      const again = await reconcile(key);
      end({ outcome: 'ok' });
      queue.forget(key);
      lastFailure.delete(key);
      if (again !== undefined) queue.addAfter(key, again);
    } catch (error) {
      const conflict = hasStatus(error, 409);
      end({ outcome: conflict ? 'conflict' : 'error' });
      if (error instanceof NotLeader) return;
      const { message } = error as Error;
      // The same again and again is said once.
      const level = conflict || lastFailure.get(key) === message ? 'debug' : 'warn';
      log[level]({ pool: key, err: error }, 'a look at a pool did not work; trying again');
      lastFailure.set(key, message);
      queue.addAfterFailure(key);
    }
  }

  const hands: Service = {
    name: 'reconcile',
    start: async () => queue.start(HANDS, work),
    stop: async () => {
      await queue.stop();
      await events.flush();
    },
  };
  const connection: Service = { name: 'kubernetes', start: async () => {}, stop: async () => transport.close() };
  return {
    services: [connection, ...watches.services, leader, loads, hands],
    ready: watches.synced,
  };
}
