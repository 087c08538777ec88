// Rejects a MongoDB server that cannot guarantee leases, at start.
import type { Db, Document, MongoOptions } from 'mongodb';
import { isForbidden, isLoginRejected } from './failures.ts';

export class UnsuitableServer extends Error {
  override name = 'UnsuitableServer';
}

/** Pure: why a server with these `hello` and `buildInfo` answers is unsuitable, or undefined. */
export function unsuitable(hello: Document, buildInfo: Document): string | undefined {
  const version = String(buildInfo['version']);
  if (Number(buildInfo['versionArray']?.[0]) < 6)
    return `MongoDB ${version} is too old. Pressroom requires MongoDB 6.0 or newer.`;
  if (hello['setName'] || hello['msg'] === 'isdbgrid') return undefined;
  return 'This MongoDB server is not part of a replica set, which Pressroom requires for durable writes. Start it with --replSet and run rs.initiate(). One member is enough.';
}

/** Throws UnsuitableServer with a message for the administrator. */
export async function checkServer(db: Db, maxTimeMS: number): Promise<void> {
  const hello = await db.admin().command({ hello: 1, maxTimeMS });
  const buildInfo = await db.admin().command({ buildInfo: 1, maxTimeMS });
  const problem = unsuitable(hello, buildInfo);
  if (problem) throw new UnsuitableServer(problem);
}

/**
 * Pure: a message for the administrator when retrying cannot fix the start error, else undefined.
 * `incompatible`: the driver's own message about the server.
 */
export function neverStarts(
  error: unknown,
  { credentials }: Pick<MongoOptions, 'credentials'>,
  database: string,
  incompatible: string | undefined,
): Error | undefined {
  if (error instanceof UnsuitableServer) return error;
  const user = credentials?.username;
  const because = (sentence: string) => new Error(sentence, { cause: error });
  if (incompatible)
    return because(
      `This MongoDB server is not compatible with Pressroom, which requires MongoDB 6.0 or newer. ${incompatible}.`,
    );
  if (isLoginRejected(error))
    return because(
      `MongoDB rejected the user name or password in MONGODB_URI. Check the password of user \`${user}\` and that the user exists in the database \`${credentials?.source}\` (authSource).`,
    );
  if (!isForbidden(error)) return undefined;
  if (user === undefined)
    return because('MongoDB requires a login. Add a user and a password to MONGODB_URI.');
  return because(
    `The MongoDB user \`${user}\` may not use the database \`${database}\`. Grant the user the role readWrite on it.`,
  );
}
