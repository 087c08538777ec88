// @proves controller-faults

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
import { type FaultyApiServer, faultyApiServer } from './kube/faulty-api-server.ts';

/** How long a fault lasts whose requests are counted. */
const FAULT_MS = 20_000;
/**
 * What one controller may ask in that time: its five watches with growing pauses, its Lease and its
 * one pool.
 */
const MAX_REQUESTS = 90;

describe('the controller, when the API server misbehaves', function () {
  this.timeout(4 * SLOW_MS);
  const NAMESPACE = 'press';
  let cluster: Cluster;
  let door: FaultyApiServer;
  let controller: PressroomProcess;
  let size = 1;

  before(async function () {
    cluster = await clusterFor(this, { controllerManager: true });
    await cluster.apply([...namespaceWithRights(NAMESPACE), poolManifest('main', NAMESPACE)]);
    door = await faultyApiServer(cluster);
    controller = await startController(cluster, NAMESPACE, { server: door.server });
    await controller.untilReady();
    await eventually(async () => expect(await replicas()).to.equal(1), SLOW_MS);
  });
  afterEach(() => door?.heal());
  after(async () => {
    await controller?.kill();
    await door?.close();
    await cluster?.stop();
  });

  const paths = childPaths(NAMESPACE, 'main');
  const replicas = async () => (await cluster.get(paths.deployment))?.spec.replicas;
  /** A change of the pool has its effect. */
  async function acts(): Promise<void> {
    size = (size % 5) + 1;
    await cluster.request(
      'PATCH',
      `/apis/pressroom.dev/v1alpha1/namespaces/${NAMESPACE}/browserpools/main`,
      { spec: { replicas: size } },
      PATCH.merge,
    );
    await eventually(async () => expect(await replicas()).to.equal(size), SLOW_MS);
  }
  const uids = async () =>
    Promise.all(Object.values(paths).map(async path => (await cluster.get(path)).metadata.uid));
  /** What is asked while a fault lasts is bounded, and nothing is lost by it. */
  async function bounded(
    fault: () => Promise<void> | void,
    mend: () => Promise<void> | void,
  ): Promise<void> {
    const before = await uids();
    await fault();
    const since = door.calls().length;
    await sleep(FAULT_MS);
    const asked = door.calls().length - since;
    await mend();
    expect(asked, 'calls while the fault lasted').to.be.lessThan(MAX_REQUESTS);
    expect(controller.alive()).to.equal(true);
    await acts();
    expect(await uids()).to.deep.equal(before);
  }

  it('goes on after the API server was restarted', async () => {
    await bounded(
      () => cluster.stopApiServer(),
      () => cluster.startApiServer(),
    );
  });

  it('goes on after etcd stood still', async () => {
    await bounded(
      () => cluster.pauseEtcd(),
      () => cluster.resumeEtcd(),
    );
  });

  it('goes on after all watches were cut, again and again', async () => {
    for (let round = 0; round < 3; round++) {
      await eventually(() => expect(door.watches().length).to.be.at.least(5), SLOW_MS);
      expect(door.cutWatches()).to.be.at.least(5);
    }
    await acts();
  });

  it('hears what happened while its watches were cut', async () => {
    await eventually(() => expect(door.watches().length).to.be.at.least(5), SLOW_MS);
    door.cutWatches();
    await cluster.request('DELETE', paths.service);
    await eventually(
      async () => expect(await cluster.get(paths.service)).to.not.equal(undefined),
      SLOW_MS,
    );
  });

  it('lists anew when the version of a watch is too old (410)', async () => {
    await eventually(() => expect(door.watches().length).to.be.at.least(5), SLOW_MS);
    const lists = () =>
      door
        .calls()
        .filter(
          ({ method, watch, path }) => method === 'GET' && !watch && path.endsWith('/deployments'),
        ).length;
    const before = lists();
    door.expireWatches();
    await eventually(() => expect(lists()).to.be.greaterThan(before), SLOW_MS);
    await acts();
  });

  it('asks with growing pauses when every watch is refused', async () => {
    await bounded(
      () => {
        door.rule({ matches: ({ watch }) => watch, do: { status: 500, reason: 'InternalError' } });
        door.cutWatches();
      },
      () => door.heal(),
    );
  });

  it('goes on after a time in which all was refused for overload (429)', async () => {
    await bounded(
      () =>
        void door.rule({ do: { status: 429, reason: 'TooManyRequests', retryAfterSeconds: 1 } }),
      () => door.heal(),
    );
  });

  it('goes on when every answer comes three seconds late', async () => {
    const slow = door.rule({ do: { delayMs: 3_000 } });
    await acts();
    slow.remove();
  });

  it('goes on after an answer was lost whose write was done', async () => {
    const lost = door.rule({
      matches: ({ method, path }) => method === 'PATCH' && path.endsWith('/main-workers'),
      do: 'reset-after',
      times: 2,
    });
    await acts();
    // The second may still be on its way: what the first wrote is seen before its answer is lost.
    await eventually(() => expect(lost.hits()).to.equal(2), SLOW_MS);
    await acts();
  });

  it('deletes nothing when a list comes back empty that should not be', async () => {
    // As when its rights are taken away: the list is refused, and what is known stays known.
    const before = await uids();
    await cluster.request(
      'DELETE',
      `/apis/rbac.authorization.k8s.io/v1/namespaces/${NAMESPACE}/rolebindings/controller`,
    );
    door.cutWatches();
    await sleep(FAULT_MS / 2);
    await cluster.apply(namespaceWithRights(NAMESPACE));
    await acts();
    expect(await uids()).to.deep.equal(before);
    expect(
      controller.log.some(({ err }) =>
        /forbidden|cannot (list|watch|get)/i.test((err as { message?: string })?.message ?? ''),
      ),
    ).to.equal(true);
  });

  it('says in its log who is not allowed what', () => {
    const line = controller.log.find(({ err }) =>
      /forbidden/i.test((err as { message?: string })?.message ?? ''),
    )!;
    expect((line.err as { message: string }).message).to.match(
      /system:serviceaccount:press:controller.*cannot \w+ resource/,
    );
  });

  it('knows all of its pool after all of that', async () => {
    await eventually(
      async () =>
        expect((await getPool(cluster, NAMESPACE, 'main')).status!.desiredReplicas).to.equal(size),
      SLOW_MS,
    );
  });
});
