// Reads the state of the MongoDB server for the health page: version, replica-set members and clock.
import type { Db } from 'mongodb';
import { isForbidden } from './failures.ts';
import { unsuitable } from './server-check.ts';

export interface ServerState {
  version: string;
  /** How far the server's clock is ahead of this process's, to within half of `roundTripMs`. */
  clockAheadMs: number;
  roundTripMs: number;
  /** As the primary reports them. Undefined for a sharded cluster or without the permission. */
  members: { name: string; state: string; healthy: boolean }[] | undefined;
  /** Why Pressroom cannot use this server. */
  unsuitable: string | undefined;
  /** The server is the primary of its replica set, or a router of a sharded cluster. */
  writable: boolean;
}

/** The members as in `rs.status()`. Undefined without the permission or without a replica set. */
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
  const buildInfo = await db.admin().command({ buildInfo: 1, maxTimeMS });
  const askedMs = Date.now();
  const hello = await db.admin().command({ hello: 1, maxTimeMS });
  const roundTripMs = Date.now() - askedMs;
  const clockAheadMs = (hello['localTime'] as Date).getTime() - (askedMs + roundTripMs / 2);
  return {
    version: String(buildInfo['version']),
    clockAheadMs,
    roundTripMs,
    members: await membersOf(db, maxTimeMS),
    unsuitable: unsuitable(hello, buildInfo),
    writable: hello['isWritablePrimary'] === true,
  };
}
