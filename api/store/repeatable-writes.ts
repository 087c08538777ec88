// Writes of accounts that are safe to repeat, without the driver's own way to repeat them: for that the server keeps a record of each session's last
// write, and of a findAndModify the whole document as well, which was an eighth to a quarter of its work for a lease.
import { type Db, type Document, MongoServerError, WriteConcern } from 'mongodb';
import { isRepeatable, isServerAnswer } from './failures.ts';

/** Changes the one document that fits. */
export interface Update {
  filter: Document;
  change: Document | Document[];
}

export interface RepeatableWrites {
  /** Changes the one document that fits; gives how many have changed. */
  update(filter: Document, update: Document | Document[]): Promise<number>;
  /** So many of them in one command, one after the other; gives how many documents have changed. One that the server refuses has changed none, and stops no other. */
  updates(each: readonly Update[]): Promise<number>;
  /** As `update`; gives what `projection` says of the document as it is then, or null when none fits. */
  findAndModify(filter: Document, update: Document | Document[], projection: Document): Promise<Document | null>;
}

/**
 * Runs a write again, once, after an error for which the driver does so with its own. `again`: the attempt before may have been done without an answer, or be
 * done yet.
 */
export async function repeatedOnce<T>(attempt: (again: boolean) => Promise<T>): Promise<T> {
  try {
    return await attempt(false);
  } catch (first) {
    if (!isRepeatable(first)) throw first;
    try {
      return await attempt(true);
    } catch (second) {
      // That the server said no to the second does not mean that the first is no longer on its way.
      throw isServerAnswer(second) && !isServerAnswer(first) ? first : second;
    }
  }
}

/** The driver gives a command the settings of nothing: all that its own operations would have stands in it. */
export function repeatableWrites(db: Db, collection: string, limits: { maxTimeMS: number }): RepeatableWrites {
  async function run(command: Document): Promise<Document> {
    if (db.writeConcern) WriteConcern.apply(command, db.writeConcern);
    // It throws MongoWriteConcernError by itself, and no other error that is in an answer which says ok.
    return db.command({ ...command, ...limits }, { ignoreUndefined: true });
  }

  const runUpdates = (each: readonly Update[]) =>
    run({ update: collection, updates: each.map(({ filter: q, change: u }) => ({ q, u })), ordered: false });

  return {
    async update(filter, change) {
      const { nModified, writeErrors } = await runUpdates([{ filter, change }]);
      if (writeErrors) throw new MongoServerError(writeErrors[0]);
      return nModified;
    },
    updates: async each => (await runUpdates(each))['nModified'],
    findAndModify: async (query, update, fields) =>
      (await run({ findAndModify: collection, query, update, fields, new: true }))['value'] ?? null,
  };
}
