// Writes Events on pools, shown by `kubectl describe`. In the background and best effort.
import { randomUUID } from 'node:crypto';
import type { Log } from '../../common/log.ts';
import { type BrowserPool, GROUP, KIND, VERSION } from '../../crds/browser-pool.ts';
import { FIELD_MANAGER, GROUP_VERSION_OF, type Kubernetes, microTime } from './resources.ts';

/** Rate limit per object, as in client-go: a burst, then one Event per five minutes. */
const BURST = 25;
const REFILL_MS = 300_000;

export interface PoolEvent {
  type: 'Normal' | 'Warning';
  /** Machine-readable reason in UpperCamelCase. */
  reason: string;
  /** The action taken, in UpperCamelCase. */
  action: string;
  note: string;
}

interface Options {
  api: Kubernetes;
  /** The reporting instance: the name of this controller's pod. */
  instance: string;
  log: Log;
  clock?: () => number;
}

export function createEvents({ api, instance, log, clock = () => performance.now() }: Options) {
  const buckets = new Map<string, { tokens: number; at: number }>();
  const writing = new Set<Promise<void>>();

  function mayReport(uid: string): boolean {
    const now = clock();
    const bucket = buckets.get(uid) ?? { tokens: BURST, at: now };
    const tokens = Math.min(BURST, bucket.tokens + (now - bucket.at) / REFILL_MS);
    buckets.set(uid, { tokens: tokens < 1 ? tokens : tokens - 1, at: now });
    // A full bucket does not have to be kept.
    for (const [key, { tokens, at }] of buckets)
      if (tokens + (now - at) / REFILL_MS >= BURST) buckets.delete(key);
    return tokens >= 1;
  }

  return {
    report(pool: BrowserPool, { type, reason, action, note }: PoolEvent): void {
      const { name, namespace, uid, resourceVersion } = pool.metadata;
      if (!mayReport(uid))
        return log.debug({ pool: name, namespace, reason }, 'dropped an Event: rate limit reached');
      const event = {
        apiVersion: GROUP_VERSION_OF.events,
        kind: 'Event',
        metadata: { name: `${name}.${randomUUID()}`, namespace },
        eventTime: microTime(),
        reportingController: `pressroom.dev/${FIELD_MANAGER}`,
        reportingInstance: instance,
        regarding: {
          apiVersion: `${GROUP}/${VERSION}`,
          kind: KIND,
          name,
          namespace,
          uid,
          resourceVersion,
        },
        type,
        reason,
        action,
        // The API server rejects longer notes.
        note: note.length > 1024 ? `${note.slice(0, 1023)}…` : note,
      };
      const done = api
        .create('events', event)
        .then(() => {})
        .catch(error =>
          log.warn({ pool: name, namespace, reason, err: error }, 'could not write an Event'),
        )
        .finally(() => writing.delete(done));
      writing.add(done);
    },
    /** Waits for pending writes. */
    flush: async () => void (await Promise.all(writing)),
  };
}
export type Events = ReturnType<typeof createEvents>;
