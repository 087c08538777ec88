// The result of the last own write of an object, used until the watch has caught up. Without it, an
// early reconciliation would revert that write.
import type { KubernetesObject } from './resources.ts';

export interface Newest<T extends KubernetesObject> {
  /** The result of the write. */
  object: T;
  /**
   * Versions older than `object` that the watch may still return. Complete, because each write is
   * based on a known resourceVersion.
   */
  older: readonly string[];
}

/** The last own write, while the watch lags behind it. */
const ahead = <T extends KubernetesObject>(
  live: T,
  own: Newest<T> | undefined,
): Newest<T> | undefined => (own?.older.includes(live.metadata.resourceVersion) ? own : undefined);

/** The newer of the object in the watch cache and the result of the last own write. */
export const newestOf = <T extends KubernetesObject>(live: T, own: Newest<T> | undefined): T =>
  ahead(live, own)?.object ?? live;

/** Records a write. `live` is the object in the watch cache before it. */
export function wrote<T extends KubernetesObject>(
  object: T,
  live: T | undefined,
  own: Newest<T> | undefined,
): Newest<T> {
  if (!live) return { object, older: [] };
  const former = ahead(live, own);
  return {
    object,
    older: former
      ? [...former.older, former.object.metadata.resourceVersion]
      : [live.metadata.resourceVersion],
  };
}
