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

/** Duration of a fault during which requests are counted. */
const FAULT_MS = 20_000;
/** Limit of requests in that time: five watches with backoff, the Lease and one pool. */
const MAX_REQUESTS = 90;

describe('controller with a faulty API server', function () {
  this.timeout(4 * SLOW_MS);
  const NAMESPACE = 'press';
  let cluster: Cluster;
  let proxy: FaultyApiServer;
  let controller: PressroomProcess;
  let size = 1;

  before(async function () {
    cluster = await clusterFor(this, { controllerManager: true });
    await cluster.apply([...namespaceWithRights(NAMESPACE), poolManifest('main', NAMESPACE)]);
    proxy = await faultyApiServer(cluster);
    controller = await startController(cluster, NAMESPACE, { server: proxy.server });
    await controller.untilReady();
    await eventually(async () => expect(await replicas()).to.equal(1), SLOW_MS);
  });
  afterEach(() => proxy?.heal());
  after(async () => {
    await controller?.kill();
    await proxy?.close();
    await cluster?.stop();
  });

  const paths = childPaths(NAMESPACE, 'main');
  const replicas = async () => (await cluster.get(paths.deployment))?.spec.replicas;
  /** Changes the size of the pool and waits until it has taken effect. */
  async function changeSize(): Promise<void> {
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
  /** Verifies that the number of requests during a fault is bounded and no object is lost. */
  async function expectBounded(
    fault: () => Promise<void> | void,
    repair: () => Promise<void> | void,
  ): Promise<void> {
    const before = await uids();
    await fault();
    const since = proxy.calls().length;
    await sleep(FAULT_MS);
    const calls = proxy.calls().length - since;
    await repair();
    expect(calls, 'calls during the fault').to.be.lessThan(MAX_REQUESTS);
    expect(controller.alive()).to.equal(true);
    await changeSize();
    expect(await uids()).to.deep.equal(before);
  }

  it('recovers after a restart of the API server', async () => {
    await expectBounded(
      () => cluster.stopApiServer(),
      () => cluster.startApiServer(),
    );
  });

  it('recovers after etcd was frozen', async () => {
    await expectBounded(
      () => cluster.pauseEtcd(),
      () => cluster.resumeEtcd(),
    );
  });

  it('recovers after all watches were cut repeatedly', async () => {
    for (let round = 0; round < 3; round++) {
      await eventually(() => expect(proxy.watches().length).to.be.at.least(5), SLOW_MS);
      expect(proxy.cutWatches()).to.be.at.least(5);
    }
    await changeSize();
  });

  it('detects changes made while its watches were cut', async () => {
    await eventually(() => expect(proxy.watches().length).to.be.at.least(5), SLOW_MS);
    proxy.cutWatches();
    await cluster.request('DELETE', paths.service);
    await eventually(
      async () => expect(await cluster.get(paths.service)).to.not.equal(undefined),
      SLOW_MS,
    );
  });

  it('lists again if the version of a watch has expired (410)', async () => {
    await eventually(() => expect(proxy.watches().length).to.be.at.least(5), SLOW_MS);
    const lists = () =>
      proxy
        .calls()
        .filter(
          ({ method, watch, path }) => method === 'GET' && !watch && path.endsWith('/deployments'),
        ).length;
    const before = lists();
    proxy.expireWatches();
    await eventually(() => expect(lists()).to.be.greaterThan(before), SLOW_MS);
    await changeSize();
  });

  it('retries with backoff if every watch is rejected', async () => {
    await expectBounded(
      () => {
        proxy.rule({ matches: ({ watch }) => watch, do: { status: 500, reason: 'InternalError' } });
        proxy.cutWatches();
      },
      () => proxy.heal(),
    );
  });

  it('recovers after all requests were rejected for overload (429)', async () => {
    await expectBounded(
      () =>
        void proxy.rule({ do: { status: 429, reason: 'TooManyRequests', retryAfterSeconds: 1 } }),
      () => proxy.heal(),
    );
  });

  it('works with a latency of three seconds', async () => {
    const slow = proxy.rule({ do: { delayMs: 3_000 } });
    await changeSize();
    slow.remove();
  });

  it('recovers if the response to a successful write is lost', async () => {
    const lost = proxy.rule({
      matches: ({ method, path }) => method === 'PATCH' && path.endsWith('/main-workers'),
      do: 'reset-after',
      times: 2,
    });
    await changeSize();
    // The second hit may follow later: the first write is visible before its response is lost.
    await eventually(() => expect(lost.hits()).to.equal(2), SLOW_MS);
    await changeSize();
  });

  it('deletes nothing if its lists are forbidden', async () => {
    // Without its permissions, the list is rejected and the cache stays as it is.
    const before = await uids();
    await cluster.request(
      'DELETE',
      `/apis/rbac.authorization.k8s.io/v1/namespaces/${NAMESPACE}/rolebindings/controller`,
    );
    proxy.cutWatches();
    await sleep(FAULT_MS / 2);
    await cluster.apply(namespaceWithRights(NAMESPACE));
    await changeSize();
    expect(await uids()).to.deep.equal(before);
    expect(
      controller.log.some(({ err }) =>
        /forbidden|cannot (list|watch|get)/i.test((err as { message?: string })?.message ?? ''),
      ),
    ).to.equal(true);
  });

  it('logs which account lacks which permission', () => {
    const line = controller.log.find(({ err }) =>
      /forbidden/i.test((err as { message?: string })?.message ?? ''),
    )!;
    expect((line.err as { message: string }).message).to.match(
      /system:serviceaccount:press:controller.*cannot \w+ resource/,
    );
  });

  it('reports the correct status after all faults', async () => {
    await eventually(
      async () =>
        expect((await getPool(cluster, NAMESPACE, 'main')).status!.desiredReplicas).to.equal(size),
      SLOW_MS,
    );
  });
});
