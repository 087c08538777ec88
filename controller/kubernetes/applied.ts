// Applies an object only when something differs: our intent, or what somebody else made of it. An
// API server on a quiet cluster hears nothing from us.
import { createHash } from 'node:crypto';
import { type Newest, newestOf, wrote } from './newest.ts';
import {
  FIELD_MANAGER,
  type Kubernetes,
  type KubernetesObject,
  type Resource,
  type Written,
} from './resources.ts';

interface Remembered extends Newest<KubernetesObject> {
  intent: string;
  /** Of the object that the apply gave. */
  owned: string;
}

const hash = (value: unknown) =>
  createHash('sha256')
    .update(JSON.stringify(value) ?? '')
    .digest('base64');

/**
 * Which fields the API server says are ours. Whoever changes one of them takes it from us, and this
 * changes.
 */
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
 * Remembers what was applied. A controller that has just begun applies everything once, which
 * changes nothing where nothing differs: the API server does not even give a new resourceVersion
 * then.
 */
export function createApplied(api: Kubernetes) {
  const remembered = new Map<string, Remembered>();
  const keyOf = (
    resource: Resource,
    { metadata }: { metadata: { namespace: string; name: string } },
  ) => `${resource}/${metadata.namespace}/${metadata.name}`;

  const fresh = <T extends KubernetesObject>(
    resource: Resource,
    live: T | undefined,
  ): T | undefined => live && (newestOf(live, remembered.get(keyOf(resource, live))) as T);

  return {
    /** The newer of what the watch tells and what our last apply gave. */
    fresh,
    /**
     * `live` is the object as the watch has it; undefined when it has none. Gives what there is
     * now.
     */
    async apply<T extends KubernetesObject>(
      resource: Resource,
      object: Written,
      live: T | undefined,
    ): Promise<T> {
      const key = keyOf(resource, object);
      const intent = hash(object);
      const before = remembered.get(key);
      const now = fresh(resource, live);
      const untouched =
        now !== undefined &&
        before?.object.metadata.uid === now.metadata.uid &&
        before.intent === intent &&
        before.owned === ownedIn(now);
      if (untouched) return now;
      // With its version, a write that was decided on what is not true any more is refused: one of
      // a leader that was frozen, above all.
      const metadata = now
        ? { ...object.metadata, resourceVersion: now.metadata.resourceVersion }
        : object.metadata;
      const applied = await api.apply<T>(resource, { ...object, metadata });
      remembered.set(key, {
        intent,
        owned: ownedIn(applied),
        ...wrote<KubernetesObject>(applied, live, before),
      });
      return applied;
    },
    /** Of a pool that is gone. */
    forget(resource: Resource, object: Written): void {
      remembered.delete(keyOf(resource, object));
    },
    /** After a time without the lead: others may have written. */
    clear: () => remembered.clear(),
  };
}
export type Applied = ReturnType<typeof createApplied>;
