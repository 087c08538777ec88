// The heartbeat of this API process: a service that writes its queue and workers to MongoDB for
// the operator's page of all processes.
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { repeatedly, type Service } from '../../../common/lifecycle.ts';
import type { Log } from '../../../common/log.ts';
import type { Dispatcher } from '../../queue/dispatcher.ts';
import type { ProcessDocument, Store } from '../../store/store.ts';
import type { WorkerRegistry } from '../../workers/registry.ts';

export interface HeartbeatDeps {
  store: Store;
  pool: string;
  dispatch: Pick<Dispatcher<never>, 'waiting'>;
  workers: Pick<WorkerRegistry, 'list'>;
  log: Log;
}

const CHECK_EVERY_MS = 2_000;
/** The write interval while nothing changes. */
const WRITE_EVERY_MS = 10_000;
/** A heartbeat that is not replaced expires after this. */
export const HEARTBEAT_VALID_MS = 30_000;
/** The accounts with the most queued renders; bounds the size of the document. */
const MAX_ACCOUNTS = 100;
const MAX_WORKERS = 1_000;
/** Read at once. */
const MAX_PROCESSES = 200;

/** The processes with a valid heartbeat, the one that started first at the top. */
export const runningProcesses = (store: Store, now: Date): Promise<ProcessDocument[]> =>
  store.limited(
    store.console.processes
      .find(
        { expires: { $gt: now } },
        { sort: { startedAt: 1, _id: 1 }, limit: MAX_PROCESSES, ...store.limits },
      )
      .toArray(),
  );

type Snapshot = Pick<ProcessDocument, 'queue' | 'workers'>;

function snapshotOf({ dispatch, workers }: Pick<HeartbeatDeps, 'dispatch' | 'workers'>): Snapshot {
  const { byAccount, oldestMs } = dispatch.waiting();
  const most = [...byAccount].sort(([, one], [, other]) => other - one).slice(0, MAX_ACCOUNTS);
  return {
    queue: {
      waiting: byAccount.values().reduce((sum, count) => sum + count, 0),
      oldestMs: Math.round(oldestMs),
      byAccount: Object.fromEntries(most),
    },
    workers: workers
      .list()
      .slice(0, MAX_WORKERS)
      .map(({ address, status: { capacity, busy, draining, chrome } }) => ({
        address,
        state: draining ? 'draining' : chrome === 'up' ? 'serving' : `chrome ${chrome}`,
        capacity,
        busy,
      })),
  };
}

export function createHeartbeat(deps: HeartbeatDeps, everyMs = CHECK_EVERY_MS): Service {
  const { store, pool, log } = deps;
  const _id = `${hostname()}-${randomUUID().slice(0, 8)}`;
  const startedAt = new Date();
  let written = '';
  let writtenMs = Number.NEGATIVE_INFINITY;

  async function write(): Promise<void> {
    const snapshot = snapshotOf(deps);
    const text = JSON.stringify(snapshot);
    if (text === written && performance.now() - writtenMs < WRITE_EVERY_MS) return;
    store.primary.throwIfMissing();
    const now = Date.now();
    const heartbeat = {
      at: new Date(now),
      expires: new Date(now + HEARTBEAT_VALID_MS),
      pool,
      startedAt,
      ...snapshot,
    };
    await store.limited(
      store.console.processes.replaceOne({ _id }, heartbeat, { upsert: true, ...store.limits }),
    );
    [written, writtenMs] = [text, performance.now()];
  }

  const writes = repeatedly({
    name: 'heartbeat',
    everyMs,
    run: write,
    log,
    failure: 'could not write the heartbeat',
    // The next heartbeat replaces this one, and the store logs the outage.
    level: 'debug',
  });
  return {
    ...writes,
    async stop(deadline) {
      await writes.stop(deadline);
      // Otherwise the page would show the process as running for up to 30 s.
      if (store.primary.missingMs() === 0)
        await store
          .limited(store.console.processes.deleteOne({ _id }, store.limits))
          .catch(() => {});
    },
  };
}
