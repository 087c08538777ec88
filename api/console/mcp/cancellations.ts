// Which calls of 2025-era clients run in this process, so that a later message can cancel one, also when another process hears it. Clients of the present revision just hang up.
import { createHash } from 'node:crypto';
import type { Log } from '../../../common/log.ts';
import { type Store, upserted } from '../../store/store.ts';

/** Ids of messages are the clients': longer ones than anybody makes name nothing. */
const ID_MAX_LENGTH = 200;
/** While such calls run here, so often it is looked whether another process has heard of a cancellation. */
const LOOK_EVERY_MS = 1_000;
/** So long a cancellation waits for its call: the one may overtake the other. Ids are used once in a session. */
const KEPT_MS = 60_000;
/** Of one consent at a time. What an app cancels beyond that runs to its end. */
const MAX_KEPT = 50;

export interface Cancellations {
  /** `session`: as the client was told at `initialize`; without one nothing can be cancelled, since ids of messages repeat from client to client. */
  begin(grantId: string, session: string | undefined, id: unknown): { signal: AbortSignal; end(): void };
  /** Resolves when the call is cancelled, or every process can know that it is. Never rejects: a render that nobody could cancel runs to its end. */
  cancel(grantId: string, session: string | undefined, id: unknown): Promise<void>;
}

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

/** `reason`: with what a cancelled call's signal aborts. */
export function createCancellations(store: Store, log: Log, reason: () => Error): Cancellations {
  const { cancelledCalls } = store.console;
  const { limits, limited } = store;
  const running = new Map<string, Running>();
  const keyOf = (grantId: string, name: string) => `${grantId} ${name}`;
  let timer: NodeJS.Timeout | undefined;

  const failed = (error: Error) => log.debug({ reason: error.message }, 'cancellations of other processes are not exchanged at the moment');

  async function look(): Promise<void> {
    store.primary.throwIfMissing();
    const grants = [...new Set([...running.values()].map(({ grantId }) => grantId))];
    const found = await limited(cancelledCalls.find({ _id: { $in: grants } }, limits).toArray());
    for (const { _id, calls } of found)
      for (const { name, at } of calls) if (Date.now() - at.getTime() < KEPT_MS) running.get(keyOf(_id, name))?.controller.abort(reason());
  }

  function watch(): void {
    timer ??= setTimeout(async () => {
      timer = undefined;
      await look().catch(failed);
      if (running.size > 0) watch();
    }, LOOK_EVERY_MS);
  }

  async function notifyOthers(grantId: string, name: string): Promise<void> {
    store.primary.throwIfMissing();
    const at = new Date();
    const update = {
      $push: { calls: { $each: [{ name, at }], $slice: -MAX_KEPT } },
      $max: { expiresAt: new Date(at.getTime() + KEPT_MS) },
    };
    await upserted(() => limited(cancelledCalls.updateOne({ _id: grantId }, update, { upsert: true, ...limits })));
  }

  return {
    begin(grantId, session, id) {
      const controller = new AbortController();
      const name = nameOf(session, id);
      if (name === undefined) return { signal: controller.signal, end: () => {} };
      const key = keyOf(grantId, name);
      running.set(key, { grantId, controller });
      watch();
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
    async cancel(grantId, session, id) {
      const name = nameOf(session, id);
      if (name === undefined) return;
      const here = running.get(keyOf(grantId, name));
      if (here) here.controller.abort(reason());
      else await notifyOthers(grantId, name).catch(failed);
    },
  };
}
