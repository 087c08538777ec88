// Makes the cluster match the decision: ranks pods before the pool shrinks, and applies what
// differs.
import type { BrowserPool } from '../crds/browser-pool.ts';
import type { Applied } from './kubernetes/applied.ts';
import { COST, type Deployment, type Pod } from './kubernetes/objects.ts';
import type { Kubernetes, KubernetesObject, Resource, Written } from './kubernetes/resources.ts';
import { hasStatus } from './kubernetes/transport.ts';
import { MANAGED_BY, ownedResourceName, ownedResourcesOf, POOL_LABEL } from './owned-resources.ts';

/**
 * Thrown when an object with the name of an owned resource belongs to another owner; it is left
 * alone.
 */
export class NotOurs extends Error {
  override name = 'NotOurs';
}

/**
 * Owned by the pool, or without an owner but with the pool's labels: as when a pool was deleted
 * with `--cascade=orphan` and created again.
 */
function isOurs({ metadata: { uid, name } }: BrowserPool, { metadata }: KubernetesObject): boolean {
  const { ownerReferences = [], deletionTimestamp, labels = {} } = metadata;
  if (ownerReferences.length > 0 || deletionTimestamp)
    return ownerReferences.some(owner => owner.uid === uid);
  return Object.entries({ ...MANAGED_BY, [POOL_LABEL]: name }).every(
    ([label, value]) => labels[label] === value,
  );
}

interface Options {
  api: Kubernetes;
  applied: Applied;
  /** The copies of the watches. */
  find(resource: Resource, namespace: string, name: string): KubernetesObject | undefined;
  /** Concurrent patches when pods are ranked. */
  concurrency?: number;
}

export function createAct({ api, applied, find, concurrency = 10 }: Options) {
  /**
   * Of an object that no watch told of: there may be one all the same, that is another's or of a
   * pool of the same name that is going.
   */
  async function look(
    resource: Resource,
    { metadata: { namespace, name } }: Pick<Written, 'metadata'>,
  ): Promise<KubernetesObject | undefined> {
    return (
      find(resource, namespace, name) ??
      (await api.get(resource, namespace, name).catch(error => {
        if (hasStatus(error, 404)) return undefined;
        throw error;
      }))
    );
  }

  function refuseUnlessOurs(
    pool: BrowserPool,
    resource: Resource,
    live: KubernetesObject | undefined,
  ): void {
    if (!live || isOurs(pool, live)) return;
    const { namespace, name, deletionTimestamp, ownerReferences = [] } = live.metadata;
    const former = ownerReferences.some(
      ({ kind, name }) => kind === pool.kind && name === pool.metadata.name,
    );
    throw new NotOurs(
      deletionTimestamp || former
        ? `${resource} ${namespace}/${name} is of a former pool of this name and is going; waiting for that`
        : `${resource} ${namespace}/${name} is there already and does not belong to this pool: rename or remove it, or name the pool otherwise`,
    );
  }

  return {
    /**
     * Pods that do nothing go first: each one's cost is its busy slots. Best effort, since what is
     * chosen all the same drains.
     */
    async rank(pods: readonly Pod[], busyByPod: ReadonlyMap<string, number>): Promise<void> {
      const wrong = pods.flatMap(pod => {
        // A pod that Prometheus does not know may be busy.
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
            .catch(error => {
              if (!hasStatus(error, 404)) throw error;
            });
        }
      };
      await Promise.all(Array.from({ length: concurrency }, work));
    },

    /** Returns the Deployment as it is now. Throws NotOurs before anything is written. */
    async apply(pool: BrowserPool, pods: number): Promise<Deployment> {
      const resources = ownedResourcesOf(pool, pods);
      const live = await Promise.all(
        resources.map(({ resource, object }) => look(resource, object)),
      );
      for (const [index, { resource }] of resources.entries())
        refuseUnlessOurs(pool, resource, live[index]);
      let last: KubernetesObject | undefined;
      for (const [index, { resource, object }] of resources.entries())
        last = await applied.apply(resource, object, live[index]);
      return last as Deployment;
    },

    /**
     * The Deployment of the pool as it is now, as far as is known. The size of one that is
     * another's, or of a former pool, is no size of this pool.
     */
    async deployment(pool: BrowserPool): Promise<Deployment | undefined> {
      const { namespace, name } = pool.metadata;
      const metadata = { namespace, name: ownedResourceName(name) };
      // Of a paused pool nothing is decided by it: the API server need not be asked again and again
      // for what may never be made.
      const live = pool.spec.paused
        ? find('deployments', namespace, metadata.name)
        : await look('deployments', { metadata });
      return live && isOurs(pool, live)
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
