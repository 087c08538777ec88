import { expect } from 'chai';
import type { PressroomProcess } from '../fault/harness/pressroom-process.ts';
import { eventually } from '../support/eventually.ts';
import { poolManifest } from '../support/pools.ts';
import { skip } from '../support/skip.ts';
import {
  childPaths,
  clusterFor,
  namespaceWithRights,
  SLOW_MS,
  startController,
} from './controller-fixture.ts';
import type { Cluster } from './kube/cluster.ts';
import { type MetricsTarget, startMetricsTarget } from './metrics-target.ts';
import { type Prometheus, startPrometheus } from './prometheus.ts';
import { prometheusBinaries } from './prometheus-binaries.ts';

const NAMESPACE = 'press';
const POOL = 'main';
const PODS = 10;
const IDLE = 3;

interface Pod {
  metadata: { name: string; uid: string; creationTimestamp: string; deletionTimestamp?: string };
}

describe('scale-down with the real ReplicaSet controller', function () {
  this.timeout(4 * SLOW_MS);
  let cluster: Cluster;
  let target: MetricsTarget | undefined;
  let prometheus: Prometheus;
  let controller: PressroomProcess;
  let queued = 50;
  let busyOf = (_pod: string) => 2;

  const pods = async () =>
    (
      (await cluster.get(
        `/api/v1/namespaces/${NAMESPACE}/pods?labelSelector=pressroom.dev/pool%3D${POOL}`,
      )) as { items: Pod[] }
    ).items;

  /** The metrics of an API and all pods, served by one target with `honor_labels`. */
  async function allMetrics(): Promise<string> {
    const labels = (pod: string) => `namespace="${NAMESPACE}",pool="${POOL}",pod="${pod}"`;
    const lines = [
      `pressroom_queue_depth{${labels('api')}} ${queued}`,
      `pressroom_queue_oldest_wait_seconds{${labels('api')}} ${queued > 0 ? 5 : 0}`,
      ...(await pods()).map(
        ({ metadata: { name } }) =>
          `pressroom_slots{${labels(name)},state="claimed"} ${busyOf(name)}`,
      ),
    ];
    return `${lines.join('\n')}\n`;
  }

  before(async function () {
    cluster = await clusterFor(this, { kwok: { nodes: 3 } });
    const binaries = await prometheusBinaries(console.log);
    if (!binaries) skip(this, 'Prometheus is not installed and could not be downloaded');
    target = await startMetricsTarget(allMetrics);
    prometheus = await startPrometheus({
      binaries,
      intervalS: 1,
      targets: [{ address: target.address, labels: { job: 'pods' } }],
    });
    const scaling = {
      maxReplicas: PODS,
      stableWindowSeconds: 10,
      panicWindowSeconds: 3,
      scaleDown: { delaySeconds: 5, maxPodsPerMinute: PODS },
    };
    await cluster.apply([
      ...namespaceWithRights(NAMESPACE),
      poolManifest(POOL, NAMESPACE, { slotsPerPod: 2, scaling }),
    ]);
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

  const untilReady = (count: number) =>
    eventually(async () => {
      const { spec, status } = await cluster.get(childPaths(NAMESPACE, POOL).deployment);
      expect({
        desired: spec.replicas,
        ready: status.readyReplicas,
        all: status.replicas,
      }).to.deep.equal({
        desired: count,
        ready: count,
        all: count,
      });
    }, 2 * SLOW_MS);

  it(`removes the ${IDLE} idle pods of ${PODS} and no busy pod`, async () => {
    await untilReady(PODS);
    // The oldest pods, which would be removed last without deletion costs.
    const byAge = (await pods()).toSorted((a, b) =>
      a.metadata.creationTimestamp < b.metadata.creationTimestamp ? -1 : 1,
    );
    const idle = new Set(byAge.slice(0, IDLE).map(({ metadata }) => metadata.name));
    const busy = byAge.slice(IDLE).map(({ metadata }) => metadata.uid);
    busyOf = pod => (idle.has(pod) ? 0 : 1);
    queued = 0;
    await untilReady(PODS - IDLE);
    const left = (await pods()).filter(({ metadata }) => !metadata.deletionTimestamp);
    expect(left.map(({ metadata }) => metadata.uid).toSorted()).to.deep.equal(busy.toSorted());
  });
});
