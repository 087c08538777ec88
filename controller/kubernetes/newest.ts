// What our own last write of an object gave, until the watch has caught up with it. Without this a
// look that comes too soon would take its own write back.
import type { KubernetesObject } from './resources.ts';

export interface Newest<T extends KubernetesObject> {
  /** What the write gave. */
  object: T;
  /**
   * Versions that the watch may still tell of, all older than `object`: each write names the one
   * that it was made on, so that there are none in between.
   */
  older: readonly string[];
}

/** Our last write, while the watch does not know of it. */
const ahead = <T extends KubernetesObject>(
  live: T,
  own: Newest<T> | undefined,
): Newest<T> | undefined => (own?.older.includes(live.metadata.resourceVersion) ? own : undefined);

/** The newer of what the watch tells and what our last write gave. */
export const newestOf = <T extends KubernetesObject>(live: T, own: Newest<T> | undefined): T =>
  ahead(live, own)?.object ?? live;

/** After a write. `live` is the object as the watch had it before. */
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
