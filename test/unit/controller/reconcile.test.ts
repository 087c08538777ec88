import { expect } from 'chai';
import { silentLog } from '../../../common/log.ts';
import { createMetrics } from '../../../common/operations.ts';
import { createAct } from '../../../controller/act.ts';
import { poolMetrics } from '../../../controller/controller-metrics.ts';
import { createApplied } from '../../../controller/kubernetes/applied.ts';
import type { PoolEvent } from '../../../controller/kubernetes/events.ts';
import type { Pod } from '../../../controller/kubernetes/objects.ts';
import type {
  Kubernetes,
  KubernetesObject,
  Resource,
  Written,
} from '../../../controller/kubernetes/resources.ts';
import { KubernetesError } from '../../../controller/kubernetes/transport.ts';
import type { PoolLoad } from '../../../controller/load/load-cache.ts';
import { ownedResourcesOf } from '../../../controller/owned-resources.ts';
import { Reconciler } from '../../../controller/reconcile.ts';
import type { BrowserPool, BrowserPoolSpecInput } from '../../../crds/browser-pool.ts';
import type { Json } from '../../cluster/kube/api-request.ts';
import { browserPool } from '../../support/pools.ts';

const POOL = browserPool();
const KEY = 'press/main';
const UNKNOWN: PoolLoad = {
  kind: 'unknown',
  reason: 'no_data',
  message: 'No data',
  busyByPod: new Map(),
  pageEnds: new Map(),
};

type Any = KubernetesObject & { spec?: Json; status?: Json };

/** A minimal API server, with watches that return changes only when the test calls `watch`. */
function fakeCluster() {
  const objects = new Map<string, Any>();
  const seen = new Map<string, Any>();
  const writes: string[] = [];
  const reads: string[] = [];
  let version = 1;
  let rejection: (resource: Resource) => KubernetesError | undefined = () => undefined;
  const keyOf = (resource: Resource, { metadata }: { metadata: { name: string } }) =>
    `${resource}/${metadata.name}`;
  const reject = (resource: Resource, status: number) =>
    new KubernetesError({ verb: 'apply', resource, path: '' }, status, '');

  function put(resource: Resource, object: Json): Any {
    const before = objects.get(keyOf(resource, object));
    const { spec = before?.spec, status = before?.status, metadata } = object;
    const made = {
      ...object,
      spec,
      status,
      metadata: {
        uid: `uid-of-${resource}`,
        ...before?.metadata,
        ...metadata,
        resourceVersion: `${++version}`,
      },
    };
    objects.set(keyOf(resource, object), made);
    return made;
  }
  const api: Kubernetes = {
    async get<T>(resource: Resource, _namespace: string, name: string) {
      reads.push(resource);
      const found = objects.get(keyOf(resource, { metadata: { name } }));
      if (!found) throw reject(resource, 404);
      return found as T;
    },
    async apply<T>(resource: Resource, object: Written) {
      const rejected = rejection(resource);
      if (rejected) throw rejected;
      const before = objects.get(keyOf(resource, object));
      const expected = object.metadata.resourceVersion;
      if (expected !== undefined && expected !== before?.metadata.resourceVersion)
        throw reject(resource, 409);
      writes.push(resource);
      return put(resource, object) as T;
    },
    async patch(resource: Resource) {
      throw rejection(resource);
    },
    create: async () => expect.fail('nothing is created here'),
    update: async () => expect.fail('nothing is updated here'),
  };
  return {
    api,
    put,
    writes,
    reads,
    get: (resource: Resource, name: string) => objects.get(`${resource}/${name}`)!,
    find: (resource: Resource, _namespace: string, name: string) => seen.get(`${resource}/${name}`),
    /** Delivers the current objects of these resources to the watches. */
    watch(...resources: Resource[]) {
      for (const [key, object] of objects)
        if (resources.some(resource => key.startsWith(`${resource}/`))) seen.set(key, object);
    },
    /** Delivers one version of an object to the watches. */
    show: (resource: Resource, object: Any) => void seen.set(keyOf(resource, object), object),
    reject: (next: typeof rejection) => {
      rejection = next;
    },
  };
}

function fixture(spec: Partial<BrowserPoolSpecInput> = {}) {
  const cluster = fakeCluster();
  const reported: PoolEvent[] = [];
  const pods: Pod[] = [];
  const state = { now: 1_000_000, load: UNKNOWN };
  cluster.put('browserpools', browserPool({ spec }));
  cluster.watch('browserpools');
  const reconciler = new Reconciler({
    api: cluster.api,
    store: {
      pool: () => cluster.find('browserpools', 'press', 'main') as BrowserPool | undefined,
      podsOf: () => pods,
    },
    loadCache: { of: () => state.load },
    act: createAct({ api: cluster.api, applied: createApplied(cluster.api), find: cluster.find }),
    events: { report: (_, event) => void reported.push(event), flush: async () => {} },
    metrics: poolMetrics(createMetrics({ processDefaults: false })),
    log: silentLog,
    clock: () => state.now,
    date: () => new Date(state.now),
  });
  return {
    cluster,
    reported,
    pods,
    state,
    reconcile: () => reconciler.reconcile(KEY),
    fails: () =>
      reconciler.reconcile(KEY).then(
        () => expect.fail('it succeeded'),
        (error: Error) => error,
      ),
    spec: (change: object) => {
      const { spec } = cluster.get('browserpools', 'main');
      cluster.put('browserpools', { metadata: { name: 'main' }, spec: { ...spec, ...change } });
      cluster.watch('browserpools');
    },
    replicas: () => cluster.get('deployments', 'main-workers').spec.replicas,
    status: () => cluster.get('browserpools', 'main').status,
  };
}

const everything: Resource[] = ['browserpools', 'deployments', 'services', 'poddisruptionbudgets'];
/** Creates the objects of a former pool with `pods` pods. */
const leftover = (cluster: ReturnType<typeof fakeCluster>, pods: number, change: object = {}) => {
  for (const { resource, object } of ownedResourcesOf(POOL, pods))
    cluster.put(resource, { ...object, metadata: { ...object.metadata, ...change } });
};

describe('reconciliation', () => {
  it('is idempotent', async () => {
    const { cluster, reconcile } = fixture();
    await reconcile();
    cluster.watch(...everything);
    const before = [...cluster.writes];
    await reconcile();
    await reconcile();
    expect(cluster.writes).to.deep.equal(before);
  });

  it('does not revert its own writes while the watch lags behind', async () => {
    const { cluster, reconcile, state, reported, status, spec } = fixture({ replicas: 2 });
    await reconcile();
    cluster.watch(...everything);
    state.now += 60_000;
    spec({ replicas: 4 });
    await reconcile();
    const written = status();
    expect(written).to.include({ desiredReplicas: 4, lastScaleReason: 'Fixed' });
    const before = [cluster.writes.length, reported.length];
    state.now += 60_000;
    await reconcile();
    expect(status().lastScaleTime).to.equal(written.lastScaleTime);
    expect(status().conditions).to.deep.equal(written.conditions);
    expect([cluster.writes.length, reported.length]).to.deep.equal(before);
  });

  it('recognizes its own writes when the watch is one or two writes behind', async () => {
    const { cluster, reconcile, reported, spec } = fixture({ replicas: 2 });
    await reconcile();
    cluster.watch(...everything);
    spec({ replicas: 4 });
    await reconcile();
    const between = structuredClone(cluster.get('deployments', 'main-workers'));
    spec({ replicas: 3 });
    await reconcile();
    const before = reported.length;
    await reconcile();
    expect(reported.length, 'with neither write').to.equal(before);
    const newest = cluster.get('deployments', 'main-workers');
    cluster.show('deployments', between);
    await reconcile();
    expect(reported.length, 'with the first write').to.equal(before);
    expect(cluster.get('deployments', 'main-workers')).to.equal(newest);
  });

  it('reports pages that hit limits at most once in five minutes', async () => {
    const { reconcile, reported, state } = fixture();
    state.load = { ...UNKNOWN, pageEnds: new Map([['memory', 2]]) };
    for (const minutes of [0, 4, 1]) {
      state.now += minutes * 60_000;
      await reconcile();
    }
    expect(reported.filter(({ reason }) => reason === 'PagesHitBounds').length).to.equal(2);
  });

  it('restores its status if another client changes it', async () => {
    const { cluster, reconcile, status } = fixture();
    await reconcile();
    cluster.watch(...everything);
    cluster.put('browserpools', {
      metadata: { name: 'main' },
      status: { ...status(), desiredReplicas: 99 },
    });
    cluster.watch('browserpools');
    await reconcile();
    expect(status().desiredReplicas).to.equal(1);
  });

  it('does not write the status of a pool that has been recreated', async () => {
    const { cluster, fails, status } = fixture();
    cluster.put('browserpools', { metadata: { name: 'main' }, status: { desiredReplicas: 7 } });
    expect(await fails()).to.include({ status: 409 });
    expect(status()).to.deep.equal({ desiredReplicas: 7 });
  });

  it('scales a pool whose status is rejected, and writes the status later', async () => {
    const { cluster, reconcile, status, spec, state, replicas } = fixture({ replicas: 2 });
    await reconcile();
    cluster.watch(...everything);
    spec({ replicas: 5 });
    state.now += 60_000;
    cluster.reject(resource =>
      resource === 'browserpools'
        ? new KubernetesError({ verb: 'apply', resource, path: '' }, 403, '')
        : undefined,
    );
    await reconcile();
    expect(replicas()).to.equal(5);
    cluster.reject(() => undefined);
    state.now += 60_000;
    await reconcile();
    expect(status()).to.include({
      desiredReplicas: 5,
      lastScaleTime: new Date(state.now).toISOString().replace('.000Z', 'Z'),
    });
  });

  it('shrinks a pool without permission to set deletion costs', async () => {
    const { cluster, reconcile, spec, replicas, pods } = fixture({ replicas: 3 });
    pods.push({
      metadata: { name: 'p', namespace: 'press', uid: 'p', resourceVersion: '1' },
      status: { conditions: [{ type: 'Ready', status: 'True' }] },
    });
    await reconcile();
    cluster.watch(...everything);
    spec({ replicas: 1 });
    cluster.reject(resource =>
      resource === 'pods'
        ? new KubernetesError({ verb: 'patch', resource, path: '' }, 403, '')
        : undefined,
    );
    await reconcile();
    expect(replicas()).to.equal(1);
  });

  it('does not report a rejected scaling, nor rewrite the status for it', async () => {
    const { cluster, reconcile, fails, status, spec, state } = fixture({ replicas: 2 });
    await reconcile();
    cluster.watch(...everything);
    const { lastScaleTime } = status();
    spec({ replicas: 5 });
    cluster.reject(resource =>
      resource === 'deployments'
        ? new KubernetesError({ verb: 'apply', resource, path: '' }, 422, '{"message":"no"}')
        : undefined,
    );
    await fails();
    cluster.watch('browserpools');
    const before = cluster.writes.length;
    for (let times = 0; times < 3; times++) {
      state.now += 2_000;
      await fails();
    }
    expect(status().lastScaleTime).to.equal(lastScaleTime);
    expect(cluster.writes.length).to.equal(before);
  });

  it('keeps the size of a Deployment that the watch does not see because its labels are missing', async () => {
    const { cluster, reconcile, replicas } = fixture();
    leftover(cluster, 7, { labels: {} });
    await reconcile();
    expect(replicas()).to.equal(7);
    expect(cluster.get('deployments', 'main-workers').metadata.labels).to.include({
      'pressroom.dev/pool': 'main',
    });
  });

  it('reads and creates nothing while the pool is paused', async () => {
    const { cluster, reconcile, status } = fixture({ paused: true });
    await reconcile();
    expect(cluster.reads).to.deep.equal([]);
    expect(cluster.writes).to.deep.equal(['browserpools']);
    expect(status()).to.include({ desiredReplicas: 0 });
  });

  it('adopts objects without an owner that have the labels of the pool', async () => {
    const { cluster, reconcile, replicas } = fixture();
    leftover(cluster, 7, { ownerReferences: undefined });
    await reconcile();
    expect(replicas()).to.equal(7);
    expect(cluster.get('deployments', 'main-workers').metadata.ownerReferences).to.have.length(1);
  });

  it('does not adopt objects of a former pool, and ignores their size', async () => {
    const { cluster, fails, status } = fixture();
    leftover(cluster, 7, {
      ownerReferences: [{ kind: 'BrowserPool', name: 'main', uid: 'former' }],
    });
    cluster.watch(...everything);
    expect((await fails()).message).to.include('belongs to a deleted pool of the same name');
    expect(status()).to.include({ desiredReplicas: 1, replicas: 0 });
    expect(cluster.writes).to.deep.equal(['browserpools']);
  });

  it('names the invalid field of a spec', async () => {
    const { fails, spec } = fixture();
    spec({ slotsPerPod: 0 });
    expect((await fails()).message).to.match(/^invalid spec of pool press\/main: slotsPerPod: /);
  });
});
