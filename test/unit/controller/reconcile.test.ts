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
  message: 'nothing',
  busyByPod: new Map(),
  pageEnds: new Map(),
};

type Any = KubernetesObject & { spec?: Json; status?: Json };

/**
 * An API server in few words, and watches of it that tell of a change only when the test says so.
 */
function fakeCluster() {
  const objects = new Map<string, Any>();
  const seen = new Map<string, Any>();
  const writes: string[] = [];
  const reads: string[] = [];
  let version = 1;
  let refusal: (resource: Resource) => KubernetesError | undefined = () => undefined;
  const keyOf = (resource: Resource, { metadata }: { metadata: { name: string } }) =>
    `${resource}/${metadata.name}`;
  const refuse = (resource: Resource, status: number) =>
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
      if (!found) throw refuse(resource, 404);
      return found as T;
    },
    async apply<T>(resource: Resource, object: Written) {
      const refused = refusal(resource);
      if (refused) throw refused;
      const before = objects.get(keyOf(resource, object));
      const wanted = object.metadata.resourceVersion;
      if (wanted !== undefined && wanted !== before?.metadata.resourceVersion)
        throw refuse(resource, 409);
      writes.push(resource);
      return put(resource, object) as T;
    },
    async patch(resource: Resource) {
      throw refusal(resource);
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
    /** The watches hear of what happened to all objects of these kinds. */
    watch(...resources: Resource[]) {
      for (const [key, object] of objects)
        if (resources.some(resource => key.startsWith(`${resource}/`))) seen.set(key, object);
    },
    /** They hear of one object, as it was at some time. */
    show: (resource: Resource, object: Any) => void seen.set(keyOf(resource, object), object),
    refuse: (next: typeof refusal) => {
      refusal = next;
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
    known: {
      pool: () => cluster.find('browserpools', 'press', 'main') as BrowserPool | undefined,
      podsOf: () => pods,
    },
    loads: { of: () => state.load },
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
    look: () => reconciler.reconcile(KEY),
    fails: () =>
      reconciler.reconcile(KEY).then(
        () => expect.fail('it went well'),
        (error: Error) => error,
      ),
    spec: (change: object) => {
      const { spec } = cluster.get('browserpools', 'main');
      cluster.put('browserpools', { metadata: { name: 'main' }, spec: { ...spec, ...change } });
      cluster.watch('browserpools');
    },
    wanted: () => cluster.get('deployments', 'main-workers').spec.replicas,
    status: () => cluster.get('browserpools', 'main').status,
  };
}

const everything: Resource[] = ['browserpools', 'deployments', 'services', 'poddisruptionbudgets'];
/** What somebody left: the objects of a pool with so many pods. */
const left = (cluster: ReturnType<typeof fakeCluster>, pods: number, change: object = {}) => {
  for (const { resource, object } of ownedResourcesOf(POOL, pods))
    cluster.put(resource, { ...object, metadata: { ...object.metadata, ...change } });
};

describe('a look at a pool', () => {
  it('changes nothing when it is repeated', async () => {
    const { cluster, look } = fixture();
    await look();
    cluster.watch(...everything);
    const before = [...cluster.writes];
    await look();
    await look();
    expect(cluster.writes).to.deep.equal(before);
  });

  it('does not take its own writes back while no watch tells of them', async () => {
    const { cluster, look, state, reported, status, spec } = fixture({ replicas: 2 });
    await look();
    cluster.watch(...everything);
    state.now += 60_000;
    spec({ replicas: 4 });
    await look();
    const said = status();
    expect(said).to.include({ desiredReplicas: 4, lastScaleReason: 'Fixed' });
    const before = [cluster.writes.length, reported.length];
    state.now += 60_000;
    await look();
    expect(status().lastScaleTime).to.equal(said.lastScaleTime);
    expect(status().conditions).to.deep.equal(said.conditions);
    expect([cluster.writes.length, reported.length]).to.deep.equal(before);
  });

  it('knows what is its own when a watch is two writes behind, or one', async () => {
    const { cluster, look, reported, spec } = fixture({ replicas: 2 });
    await look();
    cluster.watch(...everything);
    spec({ replicas: 4 });
    await look();
    const between = structuredClone(cluster.get('deployments', 'main-workers'));
    spec({ replicas: 3 });
    await look();
    const before = reported.length;
    await look();
    expect(reported.length, 'with none of both').to.equal(before);
    const newest = cluster.get('deployments', 'main-workers');
    cluster.show('deployments', between);
    await look();
    expect(reported.length, 'with the first of both').to.equal(before);
    expect(cluster.get('deployments', 'main-workers')).to.equal(newest);
  });

  it('tells of pages that hit bounds once in five minutes', async () => {
    const { look, reported, state } = fixture();
    state.load = { ...UNKNOWN, pageEnds: new Map([['memory', 2]]) };
    for (const minutes of [0, 4, 1]) {
      state.now += minutes * 60_000;
      await look();
    }
    expect(reported.filter(({ reason }) => reason === 'PagesHitBounds').length).to.equal(2);
  });

  it('says again what somebody else made of its status', async () => {
    const { cluster, look, status } = fixture();
    await look();
    cluster.watch(...everything);
    cluster.put('browserpools', {
      metadata: { name: 'main' },
      status: { ...status(), desiredReplicas: 99 },
    });
    cluster.watch('browserpools');
    await look();
    expect(status().desiredReplicas).to.equal(1);
  });

  it('says nothing of a pool that is another by now', async () => {
    const { cluster, fails, status } = fixture();
    cluster.put('browserpools', { metadata: { name: 'main' }, status: { desiredReplicas: 7 } });
    expect(await fails()).to.include({ status: 409 });
    expect(status()).to.deep.equal({ desiredReplicas: 7 });
  });

  it('gives a pool its size when its status is refused, and tells of the change when it can', async () => {
    const { cluster, look, status, spec, state, wanted } = fixture({ replicas: 2 });
    await look();
    cluster.watch(...everything);
    spec({ replicas: 5 });
    state.now += 60_000;
    cluster.refuse(resource =>
      resource === 'browserpools'
        ? new KubernetesError({ verb: 'apply', resource, path: '' }, 403, '')
        : undefined,
    );
    await look();
    expect(wanted()).to.equal(5);
    cluster.refuse(() => undefined);
    state.now += 60_000;
    await look();
    expect(status()).to.include({
      desiredReplicas: 5,
      lastScaleTime: new Date(state.now).toISOString().replace('.000Z', 'Z'),
    });
  });

  it('shrinks a pool also when its pods cannot be ranked', async () => {
    const { cluster, look, spec, wanted, pods } = fixture({ replicas: 3 });
    pods.push({
      metadata: { name: 'p', namespace: 'press', uid: 'p', resourceVersion: '1' },
      status: { conditions: [{ type: 'Ready', status: 'True' }] },
    });
    await look();
    cluster.watch(...everything);
    spec({ replicas: 1 });
    cluster.refuse(resource =>
      resource === 'pods'
        ? new KubernetesError({ verb: 'patch', resource, path: '' }, 403, '')
        : undefined,
    );
    await look();
    expect(wanted()).to.equal(1);
  });

  it('tells of no change of the size that is refused, and writes no status for it again', async () => {
    const { cluster, look, fails, status, spec, state } = fixture({ replicas: 2 });
    await look();
    cluster.watch(...everything);
    const { lastScaleTime } = status();
    spec({ replicas: 5 });
    cluster.refuse(resource =>
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

  it('leaves the pods of a Deployment that no watch tells of, as of one whose labels somebody took away', async () => {
    const { cluster, look, wanted } = fixture();
    left(cluster, 7, { labels: {} });
    await look();
    expect(wanted()).to.equal(7);
    expect(cluster.get('deployments', 'main-workers').metadata.labels).to.include({
      'pressroom.dev/pool': 'main',
    });
  });

  it('asks for nothing and makes nothing while the pool is paused', async () => {
    const { cluster, look, status } = fixture({ paused: true });
    await look();
    expect(cluster.reads).to.deep.equal([]);
    expect(cluster.writes).to.deep.equal(['browserpools']);
    expect(status()).to.include({ desiredReplicas: 0 });
  });

  it('takes on what is of nobody and has the labels of its own', async () => {
    const { cluster, look, wanted } = fixture();
    left(cluster, 7, { ownerReferences: undefined });
    await look();
    expect(wanted()).to.equal(7);
    expect(cluster.get('deployments', 'main-workers').metadata.ownerReferences).to.have.length(1);
  });

  it('does not take on what is of a former pool, and takes its size for none of this pool', async () => {
    const { cluster, fails, status } = fixture();
    left(cluster, 7, { ownerReferences: [{ kind: 'BrowserPool', name: 'main', uid: 'former' }] });
    cluster.watch(...everything);
    expect((await fails()).message).to.include('of a former pool of this name');
    expect(status()).to.include({ desiredReplicas: 1, replicas: 0 });
    expect(cluster.writes).to.deep.equal(['browserpools']);
  });

  it('says which field of a spec is wrong that no API server should have taken', async () => {
    const { fails, spec } = fixture();
    spec({ slotsPerPod: 0 });
    expect((await fails()).message).to.match(
      /^the spec of pool press\/main is wrong: slotsPerPod: /,
    );
  });
});
