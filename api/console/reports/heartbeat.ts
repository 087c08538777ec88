// What this API process sees of its queue and its workers, written where the operator's page finds the reports of all processes. A lifecycle service.
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Service } from '../../../common/lifecycle.ts';
import type { Log } from '../../../common/log.ts';
import type { Dispatcher } from '../../queue/dispatcher.ts';
import type { ProcessDocument, Store } from '../../store/store.ts';
import type { Workers } from '../../workers/workers.ts';

export interface HeartbeatDeps {
  store: Store;
  pool: string;
  dispatch: Pick<Dispatcher<never>, 'waiting'>;
  workers: Pick<Workers, 'list'>;
  log: Log;
}

const LOOK_EVERY_MS = 2_000;
/** While nothing changes; each report says for how long it is good. */
const SAY_EVERY_MS = 10_000;
export const HEARTBEAT_VALID_MS = 30_000;
/** Those who wait most. The document stays small whatever happens. */
const MAX_ACCOUNTS = 100;
const MAX_WORKERS = 1_000;

type Seen = Pick<ProcessDocument, 'queue' | 'workers'>;

function look({ dispatch, workers }: Pick<HeartbeatDeps, 'dispatch' | 'workers'>): Seen {
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

export function createHeartbeat(deps: HeartbeatDeps, everyMs = LOOK_EVERY_MS): Service {
  const { store, pool, log } = deps;
  const _id = `${hostname()}-${randomUUID().slice(0, 8)}`;
  const startedAt = new Date();
  let said = '';
  let saidMs = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  let saying: Promise<void> | undefined;
  let stopped = false;

  async function say(): Promise<void> {
    const seen = look(deps);
    const words = JSON.stringify(seen);
    if (words === said && performance.now() - saidMs < SAY_EVERY_MS) return;
    try {
      store.primary.throwIfMissing();
      const now = Date.now();
      const report = { at: new Date(now), expires: new Date(now + HEARTBEAT_VALID_MS), pool, startedAt, ...seen };
      await store.limited(store.console.processes.replaceOne({ _id }, report, { upsert: true, ...store.limits }));
      [said, saidMs] = [words, performance.now()];
    } catch (error) {
      // The next one says more than this one; that the database is away, the store's own lines tell.
      log.debug({ reason: (error as Error).message }, 'a report of this process could not be written');
    }
  }

  function again(): void {
    if (stopped) return;
    timer = setTimeout(() => {
      saying = say().finally(again);
    }, everyMs);
  }

  return {
    name: 'report of this process',
    async start() {
      saying = say().finally(again);
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await saying;
      // It would be shown for half a minute as one that runs.
      if (store.primary.missingMs() === 0) await store.limited(store.console.processes.deleteOne({ _id }, store.limits)).catch(() => {});
    },
  };
}
