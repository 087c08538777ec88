// Aborts transactions whose process died. Until then no other write to their documents succeeds:
// MongoDB itself aborts them after a minute or more (`transactionLifetimeLimitSeconds`).
import type { Db, UUID } from 'mongodb';

/** Between two operations of a transaction are milliseconds, unless the process is frozen. */
const IDLE_MS = 3_000;

interface IdleSession {
  lsid: { id: UUID };
}

/**
 * `admin`: the database of that name. A process that lives, but was frozen, runs its transaction
 * again, also one of another installation with the same database user. Needs no role, because the
 * sessions are of that user. Returns how many transactions were aborted.
 */
export async function abortIdleTransactions(
  admin: Db,
  appName: string,
  limits: { maxTimeMS: number },
): Promise<number> {
  const idle = await admin
    .aggregate<IdleSession>(
      [
        { $currentOp: { idleSessions: true } },
        {
          $match: {
            type: 'idleSession',
            appName,
            'transaction.timeInactiveMicros': { $gte: IDLE_MS * 1_000 },
          },
        },
        { $project: { lsid: 1 } },
      ],
      limits,
    )
    .toArray();
  const sessions = idle.map(({ lsid: { id } }) => ({ id }));
  if (sessions.length > 0) await admin.command({ killSessions: sessions, ...limits });
  return sessions.length;
}
