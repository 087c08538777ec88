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

/** Within which another controller acts when the one that led does not any more. */
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
  const leads = async (each: PressroomProcess) =>
    (await each.metrics()).sum('pressroom_controller_leader') === 1;
  async function byLead() {
    const leading = await Promise.all(controllers.map(leads));
    expect(leading.filter(Boolean)).to.have.length(1);
    return {
      leader: controllers[leading.indexOf(true)]!,
      other: controllers[leading.indexOf(false)]!,
    };
  }
  /** How long it takes until a change of the pool has an effect. */
  async function untilActed(count: number): Promise<number> {
    const begun = performance.now();
    await fix(count);
    await eventually(async () => expect(await replicas()).to.equal(count), SLOW_MS);
    return performance.now() - begun;
  }

  it('have one leader, and only it writes', async () => {
    const { leader, other } = await byLead();
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

  it('go on within 20 s after the leader was killed', async () => {
    const { leader, other } = await byLead();
    await leader.kill('SIGKILL');
    expect(await untilActed(4)).to.be.lessThan(TAKE_OVER_MS);
    expect(await leads(other)).to.equal(true);
  });

  it('go on at once after the leader was told to stop', async () => {
    const { leader } = await byLead();
    expect(await leader.kill('SIGTERM')).to.equal(0);
    expect(await untilActed(4)).to.be.lessThan(10_000);
  });

  it('go on within 20 s when the leader stands still, and it changes nothing when it wakes up', async () => {
    const { leader, other } = await byLead();
    await leader.freeze();
    try {
      expect(await untilActed(5)).to.be.lessThan(TAKE_OVER_MS);
    } finally {
      leader.thaw();
    }
    const { generation } = (await cluster.get(deployment())).metadata;
    await eventually(async () => expect(await leads(leader)).to.equal(false), SLOW_MS);
    await sleep(5_000);
    const now = await cluster.get(deployment());
    expect(now.spec.replicas).to.equal(5);
    expect(now.metadata.generation).to.equal(generation);
    expect(await leads(other)).to.equal(true);
    expect((await getPool(cluster, namespace, 'main')).status!.desiredReplicas).to.equal(5);
  });

  it('leave the lead when the API server is away for longer than the Lease lives, and take it up again', async () => {
    const { leader } = await byLead();
    await cluster.pauseApiServer();
    try {
      await eventually(async () => expect(await leads(leader)).to.equal(false), SLOW_MS);
    } finally {
      cluster.resumeApiServer();
    }
    await eventually(byLead, SLOW_MS);
    await untilActed(2);
  });
});
