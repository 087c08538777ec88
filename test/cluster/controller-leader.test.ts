// @proves leader-election

import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { PressroomProcess } from '../fault/harness/pressroom-process.ts';
import { eventually } from '../support/eventually.ts';
import { poolManifest } from '../support/pools.ts';
import {
  childPaths,
  clusterFor,
  getPool,
  namespaceWithRights,
  SLOW_MS,
  startController,
} from './controller-fixture.ts';
import { PATCH } from './kube/api-request.ts';
import type { Cluster } from './kube/cluster.ts';

/** Time within which another controller takes over. */
const TAKE_OVER_MS = 20_000;

describe('several controllers of one namespace', function () {
  this.timeout(3 * SLOW_MS);
  let cluster: Cluster;
  let sequence = 0;
  let namespace = '';
  let controllers: PressroomProcess[] = [];

  before(async function () {
    cluster = await clusterFor(this, { controllerManager: true });
  });
  after(() => cluster?.stop());

  beforeEach(async () => {
    namespace = `press-${++sequence}`;
    await cluster.apply([...namespaceWithRights(namespace), poolManifest('main', namespace)]);
    controllers = await Promise.all(
      ['a', 'b'].map(name => startController(cluster, namespace, { name })),
    );
    await Promise.all(controllers.map(each => each.untilReady()));
    await eventually(async () => expect(await replicas()).to.equal(1), SLOW_MS);
  });
  afterEach(async () => {
    await Promise.all(controllers.splice(0).map(each => each.kill()));
  });

  const deployment = () => childPaths(namespace, 'main').deployment;
  const replicas = async () => (await cluster.get(deployment()))?.spec.replicas;
  const fix = (count: number) =>
    cluster.request(
      'PATCH',
      `/apis/pressroom.dev/v1alpha1/namespaces/${namespace}/browserpools/main`,
      { spec: { replicas: count } },
      PATCH.merge,
    );
  const isLeader = async (each: PressroomProcess) =>
    (await each.metrics()).sum('pressroom_controller_leader') === 1;
  async function findLeader() {
    const leading = await Promise.all(controllers.map(isLeader));
    expect(leading.filter(Boolean)).to.have.length(1);
    return {
      leader: controllers[leading.indexOf(true)]!,
      other: controllers[leading.indexOf(false)]!,
    };
  }
  /** The time until a change of the pool takes effect. */
  async function untilActed(count: number): Promise<number> {
    const begun = performance.now();
    await fix(count);
    await eventually(async () => expect(await replicas()).to.equal(count), SLOW_MS);
    return performance.now() - begun;
  }

  it('elect one leader, and only the leader writes', async () => {
    const { leader, other } = await findLeader();
    await untilActed(3);
    const written = async (each: PressroomProcess) =>
      (await each.metrics()).sum('pressroom_kubernetes_requests_total', {
        verb: 'apply',
        outcome: 'ok',
      });
    expect(await written(leader)).to.be.greaterThan(3);
    expect(await written(other)).to.equal(0);
    expect(await other.probe('/readyz')).to.equal(200);
  });

  it('fail over within 20 s after the leader was killed', async () => {
    const { leader, other } = await findLeader();
    await leader.kill('SIGKILL');
    expect(await untilActed(4)).to.be.lessThan(TAKE_OVER_MS);
    expect(await isLeader(other)).to.equal(true);
  });

  it('fail over immediately after the leader received SIGTERM', async () => {
    const { leader } = await findLeader();
    expect(await leader.kill('SIGTERM')).to.equal(0);
    expect(await untilActed(4)).to.be.lessThan(10_000);
  });

  it('fail over within 20 s if the leader freezes, which changes nothing after it resumes', async () => {
    const { leader, other } = await findLeader();
    await leader.freeze();
    try {
      expect(await untilActed(5)).to.be.lessThan(TAKE_OVER_MS);
    } finally {
      leader.thaw();
    }
    const { generation } = (await cluster.get(deployment())).metadata;
    await eventually(async () => expect(await isLeader(leader)).to.equal(false), SLOW_MS);
    await sleep(5_000);
    const now = await cluster.get(deployment());
    expect(now.spec.replicas).to.equal(5);
    expect(now.metadata.generation).to.equal(generation);
    expect(await isLeader(other)).to.equal(true);
    expect((await getPool(cluster, namespace, 'main')).status!.desiredReplicas).to.equal(5);
  });

  it('keep their leader, which recreates the Lease, if the Lease is deleted', async () => {
    const { leader } = await findLeader();
    const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/pressroom-controller`;
    const before = await cluster.get(path);
    await cluster.request('DELETE', path);
    await eventually(async () => {
      const { metadata, spec } = (await cluster.get(path))!;
      expect(metadata.uid).not.to.equal(before.metadata.uid);
      expect(spec.holderIdentity).to.equal(before.spec.holderIdentity);
    }, SLOW_MS);
    expect((await findLeader()).leader).to.equal(leader);
  });

  it('give up leadership while the API server is unavailable, and elect a leader afterwards', async () => {
    const { leader } = await findLeader();
    await cluster.pauseApiServer();
    try {
      await eventually(async () => expect(await isLeader(leader)).to.equal(false), SLOW_MS);
    } finally {
      cluster.resumeApiServer();
    }
    await eventually(findLeader, SLOW_MS);
    await untilActed(2);
  });
});
