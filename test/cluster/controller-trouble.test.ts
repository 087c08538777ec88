import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { PressroomProcess } from '../fault/harness/pressroom-process.ts';
import { eventually } from '../support/eventually.ts';
import { POOL_SPEC, poolManifest } from '../support/pools.ts';
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

/** Duration for which rejected requests are counted. */
const COUNTED_MS = 20_000;

/** A fake Prometheus that always returns the same idle pool. */
async function idlePrometheus(namespace: string, pool: string) {
  const sample = (labels: object, value: number) => ({
    metric: { namespace, pool, ...labels },
    value: [0, String(value)],
  });
  const values = [sample({ __name__: 'pressroom_queue_depth', pod: 'api' }, 0)];
  const facts = [
    sample({ fact: 'age' }, 1),
    sample({ fact: 'samples' }, 60),
    sample({ fact: 'seen' }, 1),
  ];
  const server = createServer(async (request, response) => {
    let query = '';
    for await (const chunk of request) query += chunk;
    const result = query.includes('label_replace') ? facts : values;
    response.end(JSON.stringify({ status: 'success', data: { resultType: 'vector', result } }));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

describe('controller with partial failures', function () {
  this.timeout(3 * SLOW_MS);
  let cluster: Cluster;
  const controllers: PressroomProcess[] = [];

  before(async function () {
    cluster = await clusterFor(this, { controllerManager: true });
  });
  after(() => cluster?.stop());
  afterEach(() => Promise.all(controllers.splice(0).map(each => each.kill())));

  const start = async (namespace: string, options: Parameters<typeof startController>[2] = {}) => {
    const controller = await startController(cluster, namespace, options);
    controllers.push(controller);
    return controller;
  };
  const patchPool = (namespace: string, change: object) =>
    cluster.request(
      'PATCH',
      `/apis/pressroom.dev/v1alpha1/namespaces/${namespace}/browserpools/main`,
      change,
      PATCH.merge,
    );
  const replicas = async (namespace: string) =>
    (await cluster.get(childPaths(namespace, 'main').deployment))?.spec.replicas;
  const untilReplicas = (namespace: string, count: number) =>
    eventually(async () => expect(await replicas(namespace)).to.equal(count), SLOW_MS);

  it('retries a rejected scaling with backoff, and does not report a change', async () => {
    await cluster.apply([
      ...namespaceWithRights('rejected'),
      poolManifest('main', 'rejected', { replicas: 1 }),
    ]);
    await (await start('rejected')).untilReady();
    await untilReplicas('rejected', 1);
    const resources = { requests: { cpu: 'plenty' } };
    await patchPool('rejected', {
      spec: { replicas: 4, template: { ...POOL_SPEC.template, resources } },
    });
    await eventually(
      async () =>
        expect(await conditions(cluster, 'rejected', 'main')).to.include({
          Ready: 'False NotApplied',
        }),
      SLOW_MS,
    );
    const { lastScaleTime } = (await getPool(cluster, 'rejected', 'main')).status!;
    const before = (await cluster.auditRequests()).length;
    await sleep(COUNTED_MS);
    const own = (await cluster.auditRequests())
      .slice(before)
      .filter(({ user, verb }) => user.includes('rejected:controller') && verb === 'patch');
    // Retries after 5, 10, 20 ms and so on: a dozen in the first 20 s.
    expect(countBy(own, 'resource').deployments ?? 0).to.be.lessThan(13);
    // Messages are written at most every 15 s.
    expect(countBy(own, 'resource')['browserpools/status'] ?? 0).to.be.lessThan(3);
    expect((await getPool(cluster, 'rejected', 'main')).status!.lastScaleTime).to.equal(
      lastScaleTime,
    );
    await patchPool('rejected', { spec: { template: { ...POOL_SPEC.template, resources: null } } });
    await untilReplicas('rejected', 4);
  });

  it('manages its other namespaces if one is forbidden', async () => {
    await cluster.apply([
      ...namespaceWithRights('seen'),
      poolManifest('main', 'seen', { replicas: 2 }),
    ]);
    await start('seen', { env: { PRESSROOM_NAMESPACES: 'forbidden,seen' } });
    await untilReplicas('seen', 2);
  });

  it('does not report a Prometheus outage when another controller takes over', async () => {
    const prometheus = await idlePrometheus('takeover', 'main');
    try {
      await cluster.apply([...namespaceWithRights('takeover'), poolManifest('main', 'takeover')]);
      const env = { PRESSROOM_PROMETHEUS_URL: prometheus.url, PRESSROOM_PROMETHEUS_INTERVAL: '5s' };
      const metricsCondition = async () =>
        (await getPool(cluster, 'takeover', 'main')).status?.conditions?.find(
          ({ type }) => type === 'MetricsAvailable',
        );
      const first = await start('takeover', { name: 'first', env });
      await eventually(
        async () => expect(await metricsCondition()).to.include({ status: 'True' }),
        SLOW_MS,
      );
      const second = await start('takeover', { name: 'second', env });
      await second.untilReady();
      await first.kill('SIGTERM');
      await patchPool('takeover', { spec: { replicas: 3 } });
      await untilReplicas('takeover', 3);
      const { items } = await cluster.get('/apis/events.k8s.io/v1/namespaces/takeover/events');
      const notes = (items as { note: string; regarding: { kind: string } }[])
        .filter(({ regarding }) => regarding.kind === 'BrowserPool')
        .map(({ note }) => note);
      expect(notes.filter(note => note.startsWith('MetricsAvailable'))).to.deep.equal([]);
    } finally {
      prometheus.close();
    }
  });

  it('keeps a restart by kubectl, and the size of a Deployment whose labels were removed', async () => {
    await cluster.apply([
      ...namespaceWithRights('edited'),
      poolManifest('main', 'edited', { replicas: 5 }),
    ]);
    const first = await start('edited', { name: 'first' });
    await untilReplicas('edited', 5);
    await cluster.kubectl('rollout', 'restart', 'deployment/main-workers', '-n', 'edited');
    await first.kill('SIGTERM');
    const path = childPaths('edited', 'main').deployment;
    // No controller is running now, and the load is unknown afterwards.
    await cluster.request('PATCH', path, { metadata: { labels: null } }, PATCH.merge);
    await patchPool('edited', { spec: { replicas: null, scaling: { minReplicas: 1 } } });
    await start('edited', { name: 'second' });
    await eventually(
      async () =>
        expect((await cluster.get(path)).metadata.labels).to.include({
          'pressroom.dev/pool': 'main',
        }),
      SLOW_MS,
    );
    const { spec } = await cluster.get(path);
    expect(spec.replicas).to.equal(5);
    expect(spec.template.metadata.annotations).to.have.property(
      'kubectl.kubernetes.io/restartedAt',
    );
  });
});
