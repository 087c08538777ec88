// Refuses a MongoDB that can not keep the promises of the leases, before the first request needs them.
import type { Db, Document } from 'mongodb';

export class UnsuitableServer extends Error {
  override name = 'UnsuitableServer';
}

/** Pure: what is wrong with a server that answers so to `hello` and `buildInfo`, or undefined. */
export function unsuitable(hello: Document, buildInfo: Document): string | undefined {
  const version = String(buildInfo['version']);
  if (Number(buildInfo['versionArray']?.[0]) < 6) return `MongoDB ${version} is too old: Pressroom needs 6.0 or newer.`;
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
