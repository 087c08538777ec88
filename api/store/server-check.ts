// Refuses a MongoDB that can not keep the promises of the leases, before the first request needs
// them.
import type { Db, Document, MongoOptions } from 'mongodb';
import { isForbidden, isLoginRefused } from './failures.ts';

export class UnsuitableServer extends Error {
  override name = 'UnsuitableServer';
}

/** Pure: what is wrong with a server that answers so to `hello` and `buildInfo`, or undefined. */
export function unsuitable(hello: Document, buildInfo: Document): string | undefined {
  const version = String(buildInfo['version']);
  if (Number(buildInfo['versionArray']?.[0]) < 6)
    return `MongoDB ${version} is too old: Pressroom needs 6.0 or newer.`;
  if (hello['setName'] || hello['msg'] === 'isdbgrid') return undefined;
  return 'This MongoDB is not a replica set, so its writes are not durable enough: start it with --replSet and run rs.initiate() (one member is enough).';
}

/** Throws UnsuitableServer with a sentence for the operator. */
export async function checkServer(db: Db, maxTimeMS: number): Promise<void> {
  const hello = await db.admin().command({ hello: 1, maxTimeMS });
  const buildInfo = await db.admin().command({ buildInfo: 1, maxTimeMS });
  const problem = unsuitable(hello, buildInfo);
  if (problem) throw new UnsuitableServer(problem);
}

/**
 * Pure: the sentence for an operator when a start ended with something that no waiting mends, else
 * undefined. `incompatible`: the driver's own word on the server.
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
      `This MongoDB and Pressroom do not understand each other: Pressroom needs 6.0 or newer. ${incompatible}.`,
    );
  if (isLoginRefused(error))
    return because(
      `MongoDB refused the user name or the password: MONGODB_URI logs in as \`${user}\`, who is looked for in the database \`${credentials?.source}\` (authSource).`,
    );
  if (!isForbidden(error)) return undefined;
  if (user === undefined)
    return because('MongoDB asks for a login: put a user and a password into MONGODB_URI.');
  return because(
    `MongoDB does not let \`${user}\` use the database \`${database}\`: grant the role readWrite there.`,
  );
}
