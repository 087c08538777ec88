// The running calls of 2025-era clients in this process. A later message can cancel them, also when
// another process receives it. Clients of the current revision disconnect instead.
import { createHash } from 'node:crypto';
import type { Log } from '../../../common/log.ts';
import { type Store, upserted } from '../../store/store.ts';

/** Message ids come from clients; longer ones are ignored. */
const ID_MAX_LENGTH = 200;
/** While calls run here, cancellations that other processes received are read at this interval. */
const POLL_EVERY_MS = 1_000;
/** A cancellation can overtake its call. Ids are used once in a session. */
const KEPT_MS = 60_000;
/** Per consent. A call whose cancellation is dropped runs to its end. */
const MAX_KEPT = 50;

function nameOf(session: string | undefined, id: unknown): string | undefined {
  if (session === undefined || (typeof id !== 'string' && typeof id !== 'number')) return undefined;
  if (String(id).length > ID_MAX_LENGTH) return undefined;
  return createHash('sha256')
    .update(JSON.stringify([session, id]))
    .digest('base64url');
}

interface Running {
  grantId: string;
  controller: AbortController;
}

/** `reason` creates the abort reason of a cancelled call's signal. */
export function createCancellations(store: Store, log: Log, reason: () => Error) {
  const { cancelledCalls } = store.console;
  const { limits, limited } = store;
  const running = new Map<string, Running>();
  const keyOf = (grantId: string, name: string) => `${grantId} ${name}`;
  let timer: NodeJS.Timeout | undefined;

  const failed = (error: Error) =>
    log.debug({ reason: error.message }, 'could not exchange cancellations with other processes');

  async function poll(): Promise<void> {
    store.primary.throwIfMissing();
    const grants = [...new Set([...running.values()].map(({ grantId }) => grantId))];
    const found = await limited(cancelledCalls.find({ _id: { $in: grants } }, limits).toArray());
    for (const { _id, calls } of found)
      for (const { name, at } of calls)
        if (Date.now() - at.getTime() < KEPT_MS)
          running.get(keyOf(_id, name))?.controller.abort(reason());
  }

  function schedulePoll(): void {
    timer ??= setTimeout(async () => {
      timer = undefined;
      await poll().catch(failed);
      if (running.size > 0) schedulePoll();
    }, POLL_EVERY_MS);
  }

  async function notifyOthers(grantId: string, name: string): Promise<void> {
    store.primary.throwIfMissing();
    const at = new Date();
    const update = {
      $push: { calls: { $each: [{ name, at }], $slice: -MAX_KEPT } },
      $max: { expiresAt: new Date(at.getTime() + KEPT_MS) },
    };
    await upserted(() =>
      limited(cancelledCalls.updateOne({ _id: grantId }, update, { upsert: true, ...limits })),
    );
  }

  return {
    /**
     * `session`: as returned at `initialize`; without one a call cannot be cancelled, since message
     * ids repeat from client to client.
     */
    begin(grantId: string, session: string | undefined, id: unknown) {
      const controller = new AbortController();
      const name = nameOf(session, id);
      if (name === undefined) return { signal: controller.signal, end: () => {} };
      const key = keyOf(grantId, name);
      running.set(key, { grantId, controller });
      schedulePoll();
      return {
        signal: controller.signal,
        end: () => {
          if (running.get(key)?.controller === controller) running.delete(key);
          if (running.size > 0) return;
          clearTimeout(timer);
          timer = undefined;
        },
      };
    },
    /**
     * Resolves when the call is cancelled here, or the cancellation is stored for the other
     * processes. Never rejects: without it the render runs to its end.
     */
    async cancel(grantId: string, session: string | undefined, id: unknown) {
      const name = nameOf(session, id);
      if (name === undefined) return;
      const here = running.get(keyOf(grantId, name));
      if (here) here.controller.abort(reason());
      else await notifyOthers(grantId, name).catch(failed);
    },
  };
}
