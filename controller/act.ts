// Applies a decision to the cluster: sets the deletion costs of pods before a scale-down, and
// applies the owned resources that differ.
import type { BrowserPool } from '../crds/browser-pool.ts';
import type { Applied } from './kubernetes/applied.ts';
import { COST, type Deployment, type Pod } from './kubernetes/objects.ts';
import type { Kubernetes, KubernetesObject, Resource, Written } from './kubernetes/resources.ts';
import { ignoreNotFound } from './kubernetes/transport.ts';
import { MANAGED_BY, ownedResourceName, ownedResourcesOf, POOL_LABEL } from './owned-resources.ts';

/** An object with the name of an owned resource belongs to another owner. It is not changed. */
export class NotOwned extends Error {
  override name = 'NotOwned';
}

/**
 * Whether the pool owns the object, or may adopt it: an object without an owner but with the pool's
 * labels is left from a pool that was deleted with `--cascade=orphan`.
 */
function isOwned(
  { metadata: { uid, name } }: BrowserPool,
  { metadata }: KubernetesObject,
): boolean {
  const { ownerReferences = [], deletionTimestamp, labels = {} } = metadata;
  if (ownerReferences.length > 0 || deletionTimestamp)
    return ownerReferences.some(owner => owner.uid === uid);
  return Object.entries({ ...MANAGED_BY, [POOL_LABEL]: name }).every(
    ([label, value]) => labels[label] === value,
  );
}

/** Patches of deletion costs at the same time. */
const CONCURRENT_PATCHES = 10;

interface Options {
  api: Kubernetes;
  applied: Applied;
  /** Reads the caches of the watches. */
  find(resource: Resource, namespace: string, name: string): KubernetesObject | undefined;
}

export function createAct({ api, applied, find }: Options) {
  /**
   * Reads an object from the cache or, if it is missing there, from the API server: the watches do
   * not see objects of other owners.
   */
  async function read(
    resource: Resource,
    { metadata: { namespace, name } }: Pick<Written, 'metadata'>,
  ): Promise<KubernetesObject | undefined> {
    return (
      find(resource, namespace, name) ??
      (await api.get(resource, namespace, name).catch(ignoreNotFound))
    );
  }

  function assertOwned(
    pool: BrowserPool,
    resource: Resource,
    live: KubernetesObject | undefined,
  ): void {
    if (!live || isOwned(pool, live)) return;
    const { namespace, name, deletionTimestamp, ownerReferences = [] } = live.metadata;
    const former = ownerReferences.some(
      ({ kind, name }) => kind === pool.kind && name === pool.metadata.name,
    );
    throw new NotOwned(
      deletionTimestamp || former
        ? `${resource} ${namespace}/${name} belongs to a deleted pool of the same name. Waiting until it is deleted.`
        : `${resource} ${namespace}/${name} already exists and does not belong to this pool. Rename or delete it, or rename the pool.`,
    );
  }

  return {
    /**
     * Sets the deletion cost of each pod to its busy slots, so that idle pods are removed first.
     * Best effort: a busy pod that is removed drains.
     */
    async rank(pods: readonly Pod[], busyByPod: ReadonlyMap<string, number>): Promise<void> {
      const wrong = pods.flatMap(pod => {
        // A pod without metrics may be busy.
        const cost = String(busyByPod.get(pod.metadata.name) ?? 1);
        return pod.metadata.deletionTimestamp || (pod.metadata.annotations?.[COST] ?? '0') === cost
          ? []
          : [{ pod, cost }];
      });
      const queue = wrong.values();
      const work = async () => {
        for (const { pod, cost } of queue) {
          const { namespace, name } = pod.metadata;
          await api
            .patch('pods', namespace, name, { metadata: { annotations: { [COST]: cost } } })
            .catch(ignoreNotFound);
        }
      };
      await Promise.all(Array.from({ length: CONCURRENT_PATCHES }, work));
    },

    /** Returns the current Deployment. Throws NotOwned before anything is written. */
    async apply(pool: BrowserPool, pods: number): Promise<Deployment> {
      const resources = ownedResourcesOf(pool, pods);
      const live = await Promise.all(
        resources.map(({ resource, object }) => read(resource, object)),
      );
      for (const [index, { resource }] of resources.entries())
        assertOwned(pool, resource, live[index]);
      let last: KubernetesObject | undefined;
      for (const [index, { resource, object }] of resources.entries())
        last = await applied.apply(resource, object, live[index]);
      return last as Deployment;
    },

    /** The current Deployment of the pool; undefined if it is missing or has another owner. */
    async deployment(pool: BrowserPool): Promise<Deployment | undefined> {
      const { namespace, name } = pool.metadata;
      const metadata = { namespace, name: ownedResourceName(name) };
      // For a paused pool the cache is enough: its Deployment may never be created, and the API
      // server would be queried again and again.
      const live = pool.spec.paused
        ? find('deployments', namespace, metadata.name)
        : await read('deployments', { metadata });
      return live && isOwned(pool, live)
        ? (applied.fresh('deployments', live) as Deployment)
        : undefined;
    },

    forget(pool: BrowserPool): void {
      for (const { resource, object } of ownedResourcesOf(pool, 0))
        applied.forget(resource, object);
    },
  };
}
export type PoolActions = ReturnType<typeof createAct>;
