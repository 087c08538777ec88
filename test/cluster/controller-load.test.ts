// @proves scaling

import { expect } from 'chai';
import {
  type Deployment,
  type DeploymentAccount,
  startDeployment,
} from '../fault/harness/deployment.ts';
import { type Load, startLoad } from '../fault/harness/load.ts';
import type { PressroomProcess } from '../fault/harness/pressroom-process.ts';
import { eventually } from '../support/eventually.ts';
import { poolManifest } from '../support/pools.ts';
import { skip } from '../support/skip.ts';
import {
  childPaths,
  clusterFor,
  conditions,
  getPool,
  namespaceWithRights,
  SLOW_MS,
  startController,
} from './controller-fixture.ts';
import type { Cluster } from './kube/cluster.ts';
import { type Prometheus, startPrometheus } from './prometheus.ts';
import { prometheusBinaries } from './prometheus-binaries.ts';

const NAMESPACE = 'press';
const POOL = 'main';

describe('pool under load, with real renders, a real Prometheus and simulated pods', function () {
  this.timeout(4 * SLOW_MS);
  let cluster: Cluster;
  let pressroom: Deployment;
  let prometheus: Prometheus;
  let controller: PressroomProcess;
  let account: DeploymentAccount;
  let load: Load | undefined;
  let targetTimer: NodeJS.Timeout | undefined;

  before(async function () {
    cluster = await clusterFor(this, { kwok: { nodes: 3 } });
    const binaries = await prometheusBinaries(console.log);
    if (!binaries) skip(this, 'Prometheus is not installed and could not be downloaded');
    pressroom = await startDeployment({
      apis: 1,
      workers: 1,
      api: { PRESSROOM_POOL: POOL },
      worker: { PRESSROOM_POOL: POOL },
    });
    account = await pressroom.account('scale');
    prometheus = await startPrometheus({ binaries, intervalS: 1 });
    await cluster.apply([
      ...namespaceWithRights(NAMESPACE),
      poolManifest(POOL, NAMESPACE, {
        slotsPerPod: 2,
        scaling: {
          minReplicas: 1,
          maxReplicas: 6,
          stableWindowSeconds: 10,
          panicWindowSeconds: 3,
          scaleDown: { delaySeconds: 5, maxPodsPerMinute: 20 },
        },
      }),
    ]);
    // Simulated pods do not render: each is scraped from the one real worker, so that none is
    // missing in the metrics.
    targetTimer = setInterval(() => void updateTargets().catch(() => {}), 1_000);
    controller = await startController(cluster, NAMESPACE, {
      env: { PRESSROOM_PROMETHEUS_URL: prometheus.url },
    });
    await controller.untilReady();
  });
  after(async () => {
    clearInterval(targetTimer);
    await load?.stop();
    await controller?.kill();
    await prometheus?.stop();
    await pressroom?.stop();
    await cluster?.stop();
  });

  const podNames = async () => {
    const { items } = await cluster.get(
      `/api/v1/namespaces/${NAMESPACE}/pods?labelSelector=pressroom.dev/pool%3D${POOL}`,
    );
    return (items as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name);
  };
  async function updateTargets(): Promise<void> {
    const target = (port: number, pod: string) => ({
      address: `127.0.0.1:${port}`,
      labels: { namespace: NAMESPACE, pod, job: 'pods' },
    });
    const worker = pressroom.workers[0]!.process.operationsPort;
    await prometheus.setTargets([
      target(pressroom.apis[0]!.process.operationsPort, 'api-1'),
      ...(await podNames()).map(name => target(worker, name)),
    ]);
  }
  const deployment = () => cluster.get(childPaths(NAMESPACE, POOL).deployment);
  const untilPods = (fits: (ready: number) => boolean) =>
    eventually(async () => {
      const { spec, status } = await deployment();
      if (!fits(status.readyReplicas ?? 0) || status.readyReplicas !== spec.replicas)
        throw new Error(
          `${status.readyReplicas} of ${spec.replicas} pods are ready; ${JSON.stringify((await getPool(cluster, NAMESPACE, POOL)).status)}`,
        );
    }, 2 * SLOW_MS);
  const reasons = async () =>
    Object.entries((await controller.metrics()).by('pressroom_scale_decisions_total', 'reason'))
      .filter(([, count]) => count > 0)
      .map(([reason]) => reason);

  it('has metrics and one pod without load', async () => {
    await eventually(
      async () =>
        expect(await conditions(cluster, NAMESPACE, POOL)).to.include({
          MetricsAvailable: 'True Available',
        }),
      SLOW_MS,
    );
    await untilPods(ready => ready === 1);
  });

  it('grows when renders are queued', async () => {
    load = startLoad(8, () => pressroom.render(account, { html: '<p>x</p>', wait_delay: '400ms' }));
    await untilPods(ready => ready >= 3);
    const { status } = await getPool(cluster, NAMESPACE, POOL);
    expect(status!.lastScaleReason).to.match(/^(Panic|Load)$/);
    expect(await reasons()).to.satisfy(
      (all: string[]) => all.includes('panic') || all.includes('load'),
    );
  });

  it('keeps its size while Prometheus is frozen', async () => {
    await prometheus.freeze();
    try {
      await eventually(
        async () =>
          expect(await conditions(cluster, NAMESPACE, POOL)).to.include({
            MetricsAvailable: 'False Unreachable',
          }),
        SLOW_MS,
      );
      // Read only now, because the pool may have grown once more before the outage was detected.
      const before = (await deployment()).spec.replicas;
      expect(before).to.be.at.least(3);
      await load!.stop();
      load = undefined;
      // Longer than the delay after which the pool would shrink.
      await new Promise(resolve => setTimeout(resolve, 25_000));
      expect((await deployment()).spec.replicas).to.equal(before);
    } finally {
      prometheus.thaw();
    }
    await eventually(
      async () =>
        expect(await conditions(cluster, NAMESPACE, POOL)).to.include({
          MetricsAvailable: 'True Available',
        }),
      SLOW_MS,
    );
  });

  it('shrinks without load, with the reason Idle', async () => {
    await untilPods(ready => ready === 1);
    expect((await getPool(cluster, NAMESPACE, POOL)).status!.lastScaleReason).to.equal('Idle');
  });
});
