// Applies an object only if the intent or the live object has changed, so that the controller sends
// no writes on an idle cluster.
import { createHash } from 'node:crypto';
import { type Newest, newestOf, wrote } from './newest.ts';
import {
  FIELD_MANAGER,
  type Kubernetes,
  type KubernetesObject,
  type Resource,
  type Written,
} from './resources.ts';

interface LastApply extends Newest<KubernetesObject> {
  intent: string;
  /** Hash of the owned fields after the apply. */
  owned: string;
}

const hash = (value: unknown) =>
  createHash('sha256')
    .update(JSON.stringify(value) ?? '')
    .digest('base64');

/** A hash of the fields that this field manager owns. It changes if another client writes one. */
const ownedIn = ({ metadata }: KubernetesObject): string =>
  hash(
    metadata.managedFields
      ?.filter(
        ({ manager, operation, subresource }) =>
          manager === FIELD_MANAGER && operation === 'Apply' && !subresource,
      )
      .map(({ fieldsV1 }) => fieldsV1),
  );

/**
 * Keeps what was applied. A new leader applies everything once; the API server does not change the
 * resourceVersion of an object that does not differ.
 */
export function createApplied(api: Kubernetes) {
  const lastApplies = new Map<string, LastApply>();
  const keyOf = (
    resource: Resource,
    { metadata }: { metadata: { namespace: string; name: string } },
  ) => `${resource}/${metadata.namespace}/${metadata.name}`;

  const fresh = <T extends KubernetesObject>(
    resource: Resource,
    live: T | undefined,
  ): T | undefined => live && (newestOf(live, lastApplies.get(keyOf(resource, live))) as T);

  return {
    /** The newer of the object in the watch cache and the result of the last apply. */
    fresh,
    /** `live` is the object in the watch cache, if any. Returns the current object. */
    async apply<T extends KubernetesObject>(
      resource: Resource,
      object: Written,
      live: T | undefined,
    ): Promise<T> {
      const key = keyOf(resource, object);
      const intent = hash(object);
      const before = lastApplies.get(key);
      const now = fresh(resource, live);
      const untouched =
        now !== undefined &&
        before?.object.metadata.uid === now.metadata.uid &&
        before.intent === intent &&
        before.owned === ownedIn(now);
      if (untouched) return now;
      // With its resourceVersion, so that the API server rejects a write based on outdated state,
      // such as that of a former leader.
      const metadata = now
        ? { ...object.metadata, resourceVersion: now.metadata.resourceVersion }
        : object.metadata;
      const applied = await api.apply<T>(resource, { ...object, metadata });
      lastApplies.set(key, {
        intent,
        owned: ownedIn(applied),
        ...wrote<KubernetesObject>(applied, live, before),
      });
      return applied;
    },
    /** Forgets an object of a deleted pool. */
    forget(resource: Resource, object: Written): void {
      lastApplies.delete(keyOf(resource, object));
    },
    /** Forgets all objects, because another leader may have changed them. */
    clear: () => lastApplies.clear(),
  };
}
export type Applied = ReturnType<typeof createApplied>;
