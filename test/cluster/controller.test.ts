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

/** Duration without writes on an idle cluster. */
const QUIET_MS = 60_000;

describe('controller on a real API server', function () {
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

  it('creates a Deployment, a Service and a PodDisruptionBudget for a pool, and writes its status', async () => {
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
    ).to.match(/Created with 2 pods\./);
  });

  it('rolls out changes of the spec', async () => {
    await patchPool('one', {
      spec: { slotsPerPod: 5, template: { image: 'pressroom-worker:next' } },
    });
    await eventually(async () => {
      const [worker] = (await cluster.get(paths('one').deployment)).spec.template.spec.containers;
      expect(worker.image).to.equal('pressroom-worker:next');
      expect(worker.env).to.deep.include({ name: 'PRESSROOM_SLOTS', value: '5' });
    }, SLOW_MS);
    // The status follows the Deployment; until then, `Ready` is about the spec before.
    await eventually(
      async () =>
        expect((await getPool(cluster, 'press', 'one')).status!.observedGeneration).to.equal(2),
      SLOW_MS,
    );
    await untilReady('one');
  });

  it('removes fields that are removed from the spec', async () => {
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

  it('removes the service account with its field', async () => {
    const accounts = async () => {
      const { spec } = (await cluster.get(paths('one').deployment)).spec.template;
      return [spec.serviceAccountName, spec.serviceAccount];
    };
    await patchPool('one', { spec: { template: { serviceAccountName: 'printer' } } });
    await eventually(
      async () => expect(await accounts()).to.deep.equal(['printer', 'printer']),
      SLOW_MS,
    );
    await patchPool('one', { spec: { template: { serviceAccountName: null } } });
    await eventually(
      async () => expect(await accounts()).to.deep.equal([undefined, undefined]),
      SLOW_MS,
    );
  });

  it('reverts changes to its own fields, and keeps fields of other clients', async () => {
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

  it('keeps a size that is fixed with `kubectl scale`', async () => {
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

  it('does not change a paused pool, and applies pending changes afterwards', async () => {
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
          observedGeneration: 9,
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

  it('writes nothing on an idle cluster', async () => {
    await untilReady('one');
    // Status updates of earlier tests are written within this time.
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
    const own = (await cluster.auditRequests())
      .slice(since)
      .filter(({ user }) => user.includes('controller') && user.includes('press'));
    // The Lease is read and written every two seconds.
    const others = own.filter(({ resource, verb }) => resource !== 'leases' && verb !== 'watch');
    expect(countBy(others, 'verb', 'resource')).to.deep.equal({});
    expect(own.length).to.be.greaterThan(10).and.lessThan(90);
  }).timeout(QUIET_MS + SLOW_MS);

  it('does not change an object with the same name that belongs to another owner', async () => {
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

  it('reports a template that the API server rejects in a condition', async () => {
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

  it('removes the objects and the metrics of a deleted pool', async () => {
    const poolsInMetrics = async () =>
      Object.keys((await controller.metrics()).by('pressroom_pool_desired_pods', 'pool'));
    expect(await poolsInMetrics()).to.include('two');
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
      expect(await poolsInMetrics()).to.not.include('two');
    }, SLOW_MS);
  });

  it('recreates the objects of a pool that is deleted and recreated', async () => {
    await cluster.kubectl('delete', 'bpool/one', '-n', 'press');
    await cluster.apply([poolManifest('one', 'press', { scaling: { minReplicas: 2 } })]);
    await untilReady('one');
    const { uid } = (await getPool(cluster, 'press', 'one')).metadata;
    for (const path of Object.values(paths('one')))
      expect((await cluster.get(path)).metadata.ownerReferences[0].uid).to.equal(uid);
  });

  it('stops cleanly and releases the Lease', async () => {
    expect(await controller.kill('SIGTERM')).to.equal(0);
    const lease = await cluster.get(
      '/apis/coordination.k8s.io/v1/namespaces/press/leases/pressroom-controller',
    );
    expect(lease.spec.holderIdentity ?? '').to.equal('');
  });
});
