// The operators' route for live data: the queue and the workers as each API process reports them,
// and the renders of the last 30 minutes.

import { addedUp } from '../../history/usage-buckets.ts';
import type { RenderMinuteDocument, Store } from '../../store/store.ts';
import { type Live, live } from '../contract/accounts.ts';
import { accountNames } from '../kit/account-names.ts';
import { type ConsoleRoute, route } from '../kit/route.ts';
import { runningProcesses } from '../reports/heartbeat.ts';

const MINUTES = 30;
const MINUTE_MS = 60_000;
const MAX_ACCOUNTS = 100;

/** One entry per minute, the current minute last. Pure. */
export function lastMinutes(
  found: readonly Omit<RenderMinuteDocument, 'flushes' | 'expires'>[],
  nowMs: number,
): Live['lastMinutes'] {
  const known = new Map(found.map(minute => [minute._id.getTime(), minute]));
  const last = Math.floor(nowMs / MINUTE_MS) * MINUTE_MS;
  return Array.from({ length: MINUTES }, (_, index) => {
    const ms = last - (MINUTES - 1 - index) * MINUTE_MS;
    const { ok = 0, failed = 0, rejected = 0 } = known.get(ms) ?? {};
    return { at: new Date(ms).toISOString(), ok, failed, rejected };
  });
}

export const operatorLiveRoutes = ({ store }: { store: Store }): ConsoleRoute[] => {
  const { renderMinutes } = store.console;

  const minutes = (now: Date) => {
    const since = new Date(now.getTime() - MINUTES * MINUTE_MS);
    return store.limited(
      renderMinutes
        .find(
          { _id: { $gt: since } },
          { projection: { ok: 1, failed: 1, rejected: 1 }, ...store.limits },
        )
        .toArray(),
    );
  };

  /** Trial renders share one queue, which belongs to no account. */
  async function waitingByAccount(
    byAccount: Record<string, number>[],
  ): Promise<Live['waitingByAccount']> {
    const most = Object.entries(addedUp(byAccount))
      .sort(([, one], [, other]) => other - one)
      .slice(0, MAX_ACCOUNTS);
    const named = await accountNames(
      store,
      most.map(([id]) => id),
    );
    return most.map(([id, waiting]) => ({ id, name: named.get(id) ?? null, waiting }));
  }

  return [
    route({
      method: 'get',
      path: '/operator/live',
      id: 'getLive',
      summary:
        'Retrieve the queues and workers as the API processes report them. At most two seconds old while they change.',
      access: 'operator',
      answer: live,
      handle: async () => {
        const now = new Date();
        const [found, counted] = await Promise.all([runningProcesses(store, now), minutes(now)]);
        return {
          at: now.toISOString(),
          processes: found.map(
            ({ _id, pool, at, startedAt, queue: { waiting, oldestMs }, workers }) => ({
              id: _id,
              pool,
              at: at.toISOString(),
              startedAt: startedAt.toISOString(),
              queue: { waiting, oldestMs },
              workers,
            }),
          ),
          waitingByAccount: await waitingByAccount(found.map(({ queue }) => queue.byAccount)),
          lastMinutes: lastMinutes(counted, now.getTime()),
        };
      },
    }),
  ];
};
