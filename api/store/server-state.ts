// What MongoDB says of itself, for the operator's health page: its release, the members of its set,
// its clock, and whether it may come to an end of its room.
import type { Db } from 'mongodb';
import { isForbidden } from './failures.ts';

export interface ServerState {
  version: string;
  /**
   * How far the server's clock is ahead of this process's; exact to half of the time that the
   * question took.
   */
  clockAheadMs: number;
  roundTripMs: number;
  /**
   * As the primary sees them; without one that may be asked (a sharded cluster, a user without the
   * right) undefined.
   */
  members: { name: string; state: string; healthy: boolean }[] | undefined;
}

/**
 * The states as `rs.status()` names them. Undefined when the user may not ask, or there is no set
 * to ask.
 */
async function membersOf(db: Db, maxTimeMS: number): Promise<ServerState['members']> {
  try {
    const { members } = await db.admin().command({ replSetGetStatus: 1, maxTimeMS });
    return (members as { name: string; stateStr: string; health: number }[]).map(
      ({ name, stateStr, health }) => ({
        name,
        state: stateStr,
        healthy: health === 1,
      }),
    );
  } catch (error) {
    const NO_REPLICATION_ENABLED = 76;
    const COMMAND_NOT_FOUND = 59;
    if (
      isForbidden(error) ||
      [NO_REPLICATION_ENABLED, COMMAND_NOT_FOUND].includes((error as { code: number }).code)
    )
      return undefined;
    throw error;
  }
}

/** Rejects when the server does not answer. */
export async function serverState(db: Db, maxTimeMS: number): Promise<ServerState> {
  const { version } = await db.admin().command({ buildInfo: 1, maxTimeMS });
  const askedMs = Date.now();
  const { localTime } = await db.admin().command({ hello: 1, maxTimeMS });
  const roundTripMs = Date.now() - askedMs;
  const clockAheadMs = (localTime as Date).getTime() - (askedMs + roundTripMs / 2);
  return {
    version: String(version),
    clockAheadMs,
    roundTripMs,
    members: await membersOf(db, maxTimeMS),
  };
}
