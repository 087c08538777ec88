import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { BrowserPool } from '../../crds/browser-pool.ts';
import type { PressroomProcess } from '../fault/harness/pressroom-process.ts';
import { eventually } from '../support/eventually.ts';
import { poolManifest } from '../support/pools.ts';
import { skip } from '../support/skip.ts';
import { clusterFor, namespaceWithRights, startController } from './controller-fixture.ts';
import type { Cluster } from './kube/cluster.ts';
import { type MetricsTarget, startMetricsTarget } from './metrics-target.ts';
import { type Prometheus, startPrometheus } from './prometheus.ts';
import { prometheusBinaries } from './prometheus-binaries.ts';

const NAMESPACE = 'press';
const POOLS = 200;
const PODS_EACH = 10;
/** A single kubectl for all of them would exceed its time limit on a busy machine. */
const APPLIED_AT_ONCE = 20;
const MINUTE_MS = 60_000;
/** Duration of the measurement. */
const WATCHED_MS = 30_000;

const poolName = (index: number) => `pool-${index}`;

/** The metrics of 200 APIs and 2,000 workers, served by one target with `honor_labels`. */
function allMetrics(): string {
  const lines: string[] = [];
  for (let pool = 0; pool < POOLS; pool++) {
    const labels = (pod: string) =>
      `namespace="${NAMESPACE}",pool="${poolName(pool)}",pod="${poolName(pool)}-${pod}"`;
    lines.push(
      `pressroom_queue_depth{${labels('api')}} 0`,
      `pressroom_queue_oldest_wait_seconds{${labels('api')}} 0`,
    );
    for (let pod = 0; pod < PODS_EACH; pod++)
      lines.push(`pressroom_slots{${labels(`worker-${pod}`)},state="claimed"} 1`);
  }
  return `${lines.join('\n')}\n`;
}

/** The upper bound of the bucket that contains a quantile. */
function quantile(buckets: Record<string, number>, share: number): string {
  const bounds = Object.keys(buckets).filter(bound => bound !== '+Inf');
  const threshold = share * buckets['+Inf']!;
  return (
    bounds.toSorted((a, b) => Number(a) - Number(b)).find(bound => buckets[bound]! >= threshold) ??
    '+Inf'
  );
}

describe(`${POOLS} pools of ${PODS_EACH} pods each`, function () {
  this.timeout(15 * MINUTE_MS);
  let cluster: Cluster;
  let target: MetricsTarget | undefined;
  let prometheus: Prometheus;
  let controller: PressroomProcess;
  const text = allMetrics();

  before(async function () {
    cluster = await clusterFor(this, {
      kwok: { nodes: 10 },
      controllerManager: { args: ['--kube-api-qps=400', '--kube-api-burst=800'] },
    });
    const binaries = await prometheusBinaries(console.log);
    if (!binaries) skip(this, 'Prometheus is not installed and could not be downloaded');
    target = await startMetricsTarget(() => text);
    prometheus = await startPrometheus({
      binaries,
      intervalS: 2,
      targets: [{ address: target.address, labels: { job: 'pods' } }],
    });
    await cluster.apply(namespaceWithRights(NAMESPACE));
    controller = await startController(cluster, NAMESPACE, {
      env: { PRESSROOM_PROMETHEUS_URL: prometheus.url },
    });
    await controller.untilReady();
  });
  after(async () => {
    await controller?.kill();
    await prometheus?.stop();
    target?.close();
    await cluster?.stop();
  });

  const pools = async () =>
    (
      (await cluster.get(`/apis/pressroom.dev/v1alpha1/namespaces/${NAMESPACE}/browserpools`)) as {
        items: BrowserPool[];
      }
    ).items;

  it('become ready', async () => {
    const scaling = { minReplicas: PODS_EACH, maxReplicas: 2 * PODS_EACH };
    const manifests = Array.from({ length: POOLS }, (_, index) =>
      poolManifest(poolName(index), NAMESPACE, { scaling }),
    );
    for (let at = 0; at < POOLS; at += APPLIED_AT_ONCE)
      await cluster.apply(manifests.slice(at, at + APPLIED_AT_ONCE));
    await eventually(async () => {
      const ready = (await pools()).filter(({ status }) => status?.readyReplicas === PODS_EACH);
      if (ready.length < POOLS) throw new Error(`${ready.length} of ${POOLS} pools are ready`);
      await sleep(1_000);
    }, 10 * MINUTE_MS);
  });

  it('are reconciled without failures and writes, with low CPU and memory usage', async () => {
    await eventually(async () => {
      const known = (await pools()).filter(({ status }) =>
        status?.conditions?.some(
          ({ type, status }) => type === 'MetricsAvailable' && status === 'True',
        ),
      );
      if (known.length < POOLS)
        throw new Error(`the load of ${known.length} of ${POOLS} pools is known`);
      await sleep(1_000);
    }, 3 * MINUTE_MS);
    // Waits for status updates after the last change.
    await sleep(20_000);
    const before = await controller.metrics();
    await sleep(WATCHED_MS);
    const after = await controller.metrics();
    const grown = (name: string, labels?: Record<string, string>) =>
      after.sum(name, labels) - before.sum(name, labels);
    expect(grown('pressroom_reconcile_duration_seconds_count', { outcome: 'error' })).to.equal(0);
    for (const verb of ['apply', 'patch', 'create'])
      expect(grown('pressroom_kubernetes_requests_total', { verb }), verb).to.equal(0);
    const runs = grown('pressroom_reconcile_duration_seconds_count', { outcome: 'ok' });
    expect(runs).to.be.greaterThan(POOLS);
    const buckets = (samples: typeof after) =>
      samples.by('pressroom_reconcile_duration_seconds_bucket', 'le');
    const spent = Object.fromEntries(
      Object.entries(buckets(after)).map(([le, count]) => [le, count - (buckets(before)[le] ?? 0)]),
    );
    const { nowBytes, peakBytes } = await controller.memory();
    const cpu = grown('process_cpu_seconds_total') / (WATCHED_MS / 1000);
    console.log(
      `    ${runs} reconciliations in ${WATCHED_MS / 1000} s: p50 at most ${quantile(spent, 0.5)} s, p99 at most ${quantile(spent, 0.99)} s; ${Math.round(nowBytes / 1e6)} MB memory, peak ${Math.round(peakBytes / 1e6)} MB; ${Math.round(cpu * 100)} % of a CPU.`,
    );
    expect(nowBytes).to.be.lessThan(600e6);
  });
});
