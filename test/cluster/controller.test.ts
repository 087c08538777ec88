// @proves reconcile

import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { PressroomProcess } from '../fault/harness/pressroom-process.ts';
import { eventually } from '../support/eventually.ts';
import { poolManifest } from '../support/pools.ts';
import {
  childPaths,
  clusterFor,
  conditions,
  getPool,
  namespaceWithRights,
  SLOW_MS,
  startController,
} from './controller-fixture.ts';
import { PATCH } from './kube/api-request.ts';
import { countBy } from './kube/audit.ts';
import type { Cluster } from './kube/cluster.ts';

/** How long nothing may happen on a quiet cluster. */
const QUIET_MS = 60_000;

describe('the controller, on a real API server', function () {
  this.timeout(2 * SLOW_MS);
  let cluster: Cluster;
  let controller: PressroomProcess;

  before(async function () {
    cluster = await clusterFor(this, { kwok: { nodes: 3 } });
    await cluster.apply(namespaceWithRights('press'));
    controller = await startController(cluster, 'press');
    await controller.untilReady();
  });
  after(async () => {
    await controller?.kill('SIGTERM');
    await cluster?.stop();
  });

  const paths = (pool: string) => childPaths('press', pool);
  const patchPool = (name: string, change: object) =>
    cluster.request(
      'PATCH',
      `/apis/pressroom.dev/v1alpha1/namespaces/press/browserpools/${name}`,
      change,
      PATCH.merge,
    );
  const untilReady = (name: string) =>
    eventually(
      async () =>
        expect(await conditions(cluster, 'press', name)).to.include({ Ready: 'True AllReady' }),
      SLOW_MS,
    );
  const eventsOf = async (name: string) =>
    (
      (await cluster.get('/apis/events.k8s.io/v1/namespaces/press/events')) as {
        items: {
          regarding?: { name: string };
          action?: string;
          reason: string;
          note: string;
          reportingController?: string;
        }[];
      }
    ).items.filter(
      ({ regarding, reportingController }) =>
        regarding?.name === name && reportingController?.includes('pressroom'),
    );

  it('makes a Deployment, a Service and a PodDisruptionBudget of a pool, and says in its status how far that is', async () => {
    await cluster.apply([poolManifest('one', 'press', { scaling: { minReplicas: 2 } })]);
    await untilReady('one');
    const [deployment, service, budget] = await Promise.all(
      Object.values(paths('one')).map(path => cluster.get(path)),
    );
    expect(deployment.spec.replicas).to.equal(2);
    expect(service.spec.clusterIP).to.equal('None');
    expect(budget.spec.maxUnavailable).to.equal('25%');
    const { status } = await getPool(cluster, 'press', 'one');
    expect(status).to.include({
      observedGeneration: 1,
      desiredReplicas: 2,
      replicas: 2,
      readyReplicas: 2,
      updatedReplicas: 2,
    });
    expect(await conditions(cluster, 'press', 'one')).to.include({
      ScalingActive: 'False Unreachable',
      MetricsAvailable: 'False Unreachable',
      ChromeSandboxed: 'True InUse',
    });
    expect(
      (await eventsOf('one')).map(({ action, note }) => `${action} ${note}`).join('\n'),
    ).to.match(/^Created 2 pods\./m);
  });

  it('rolls out what changes in the spec', async () => {
    await patchPool('one', {
      spec: { slotsPerPod: 5, template: { image: 'pressroom-worker:next' } },
    });
    await eventually(async () => {
      const [worker] = (await cluster.get(paths('one').deployment)).spec.template.spec.containers;
      expect(worker.image).to.equal('pressroom-worker:next');
      expect(worker.env).to.deep.include({ name: 'PRESSROOM_SLOTS', value: '5' });
    }, SLOW_MS);
    await untilReady('one');
    expect((await getPool(cluster, 'press', 'one')).status!.observedGeneration).to.equal(2);
  });

  it('takes away what is no longer in the spec', async () => {
    await patchPool('one', {
      spec: { template: { nodeSelector: { 'kubernetes.io/os': 'linux' } } },
    });
    const selector = async () =>
      (await cluster.get(paths('one').deployment)).spec.template.spec.nodeSelector;
    await eventually(
      async () => expect(await selector()).to.deep.equal({ 'kubernetes.io/os': 'linux' }),
      SLOW_MS,
    );
    await patchPool('one', { spec: { template: { nodeSelector: null } } });
    await eventually(async () => expect(await selector()).to.equal(undefined), SLOW_MS);
  });

  it('corrects what somebody else changes, and leaves alone what is not its own', async () => {
    const { deployment } = paths('one');
    await cluster.request(
      'PATCH',
      deployment,
      { spec: { replicas: 0, template: { metadata: { annotations: { theirs: 'x' } } } } },
      PATCH.merge,
    );
    await eventually(async () => {
      const { spec } = await cluster.get(deployment);
      expect(spec.replicas).to.equal(2);
      expect(spec.template.metadata.annotations.theirs).to.equal('x');
    }, SLOW_MS);
    await cluster.request('DELETE', paths('one').service);
    await eventually(
      async () =>
        expect((await cluster.get(paths('one').service))?.spec.clusterIP).to.equal('None'),
      SLOW_MS,
    );
  });

  it('keeps a fixed size, also from `kubectl scale`', async () => {
    await cluster.kubectl('scale', 'bpool/one', '--replicas=4', '-n', 'press');
    await eventually(
      async () =>
        expect((await cluster.get(paths('one').deployment)).status.readyReplicas).to.equal(4),
      SLOW_MS,
    );
    await eventually(
      async () =>
        expect(await conditions(cluster, 'press', 'one')).to.include({
          ScalingActive: 'False FixedSize',
        }),
      SLOW_MS,
    );
    expect((await eventsOf('one')).map(({ reason }) => reason)).to.include('Fixed');
  });

  it('changes nothing of a paused pool, and makes up for it afterwards', async () => {
    await patchPool('one', { spec: { paused: true } });
    await eventually(
      async () =>
        expect(await conditions(cluster, 'press', 'one')).to.include({
          ScalingActive: 'False Paused',
        }),
      SLOW_MS,
    );
    await patchPool('one', { spec: { replicas: 1 } });
    await cluster.request('PATCH', paths('one').deployment, { spec: { replicas: 3 } }, PATCH.merge);
    await eventually(
      async () =>
        expect((await getPool(cluster, 'press', 'one')).status).to.include({
          observedGeneration: 7,
          replicas: 3,
        }),
      SLOW_MS,
    );
    expect((await cluster.get(paths('one').deployment)).spec.replicas).to.equal(3);
    await patchPool('one', { spec: { paused: false } });
    await eventually(
      async () =>
        expect((await cluster.get(paths('one').deployment)).status.readyReplicas).to.equal(1),
      SLOW_MS,
    );
  });

  it('writes nothing on a quiet cluster', async () => {
    await untilReady('one');
    // The last status of what went before is on its way at most so long.
    await sleep(20_000);
    const versions = async () =>
      (
        await Promise.all([
          ...Object.values(paths('one')).map(path => cluster.get(path)),
          getPool(cluster, 'press', 'one'),
        ])
      ).map(({ metadata }) => metadata.resourceVersion);
    const [before, since] = [await versions(), (await cluster.auditRequests()).length];
    await sleep(QUIET_MS);
    expect(await versions()).to.deep.equal(before);
    const ours = (await cluster.auditRequests())
      .slice(since)
      .filter(({ user }) => user.includes('controller') && user.includes('press'));
    // The Lease, every two seconds: read and written.
    const others = ours.filter(({ resource, verb }) => resource !== 'leases' && verb !== 'watch');
    expect(countBy(others, 'verb', 'resource')).to.deep.equal({});
    expect(ours.length).to.be.greaterThan(10).and.lessThan(90);
  }).timeout(QUIET_MS + SLOW_MS);

  it('leaves an object alone that has the name of its own and belongs to another', async () => {
    const theirs = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'two-workers', namespace: 'press' },
      spec: { ports: [{ port: 80 }], selector: { app: 'theirs' } },
    };
    await cluster.apply([theirs, poolManifest('two', 'press')]);
    await eventually(
      async () =>
        expect(await conditions(cluster, 'press', 'two')).to.include({ Ready: 'False NotApplied' }),
      SLOW_MS,
    );
    const pool = await getPool(cluster, 'press', 'two');
    expect(pool.status!.conditions!.find(({ type }) => type === 'Ready')!.message).to.include(
      'does not belong to this pool',
    );
    expect((await cluster.get(paths('two').service)).spec.selector).to.deep.equal({
      app: 'theirs',
    });
    expect(await cluster.get(paths('two').deployment)).to.equal(undefined);
    await cluster.request('DELETE', paths('two').service);
    await untilReady('two');
  });

  it('tells in a condition what the API server does not take of a template', async () => {
    await cluster.apply([
      poolManifest('three', 'press', {
        template: { image: 'x', resources: { requests: { cpu: 'plenty' } } },
      }),
    ]);
    await eventually(async () => {
      const pool = await getPool(cluster, 'press', 'three');
      const ready = pool.status?.conditions?.find(({ type }) => type === 'Ready');
      expect(ready).to.include({ status: 'False', reason: 'NotApplied' });
      expect(ready!.message).to.match(/quantities|cpu/);
    }, SLOW_MS);
    await cluster.request(
      'DELETE',
      '/apis/pressroom.dev/v1alpha1/namespaces/press/browserpools/three',
    );
  });

  it('has everything of a pool removed with it, and tells Prometheus no more of it', async () => {
    const told = async () =>
      Object.keys((await controller.metrics()).by('pressroom_pool_desired_pods', 'pool'));
    expect(await told()).to.include('two');
    await cluster.request(
      'DELETE',
      '/apis/pressroom.dev/v1alpha1/namespaces/press/browserpools/two',
    );
    await eventually(async () => {
      for (const path of Object.values(paths('two')))
        expect(await cluster.get(path)).to.equal(undefined);
      const pods = (await cluster.get(
        '/api/v1/namespaces/press/pods?labelSelector=pressroom.dev/pool%3Dtwo',
      )) as { items: unknown[] };
      expect(pods.items).to.deep.equal([]);
      expect(await told()).to.not.include('two');
    }, SLOW_MS);
  });

  it('makes a pool anew that is made again at once', async () => {
    await cluster.kubectl('delete', 'bpool/one', '-n', 'press');
    await cluster.apply([poolManifest('one', 'press', { scaling: { minReplicas: 2 } })]);
    await untilReady('one');
    const { uid } = (await getPool(cluster, 'press', 'one')).metadata;
    for (const path of Object.values(paths('one')))
      expect((await cluster.get(path)).metadata.ownerReferences[0].uid).to.equal(uid);
  });

  it('stops cleanly, and gives the lead up', async () => {
    expect(await controller.kill('SIGTERM')).to.equal(0);
    const lease = await cluster.get(
      '/apis/coordination.k8s.io/v1/namespaces/press/leases/pressroom-controller',
    );
    expect(lease.spec.holderIdentity ?? '').to.equal('');
  });
});
