// The MongoDB writes of the render log. Each is safe to repeat when its answer was lost: a record is
// identified by its ID, a tally by its name.
import {
  type Collection,
  type Document,
  duplicatesOf,
  type RenderDocument,
  type Store,
} from '../store/store.ts';
import type { Tally } from './usage-tally.ts';

export interface NamedTally extends Tally {
  name: string;
}

/** Tally names kept per document: a few of each process, since retries happen within minutes. */
const FLUSHES_KEPT = 64;
/** The live page shows 30 minutes. */
const MINUTE_KEPT_MS = 2 * 3600_000;

/** Ignores duplicates: these were written by an attempt whose answer was lost. */
export async function insertRenders(
  { console, limited, limits }: Store,
  renders: readonly RenderDocument[],
): Promise<void> {
  try {
    await limited(console.renders.insertMany([...renders], { ordered: false, ...limits }));
  } catch (error) {
    if (!duplicatesOf(error)) throw error;
  }
}

/**
 * Upserts, then repeats as updates those that hit a duplicate: the document exists because another
 * process inserted it, or because this tally is already in it.
 */
async function upsertAll<T extends Document>(
  store: Store,
  collection: Collection<T>,
  updates: { filter: Document; update: Document }[],
): Promise<void> {
  if (updates.length === 0) return;
  // The cast: the driver does not type updates of computed paths such as `durations.100`.
  const write = (upsert: boolean, of: typeof updates) =>
    store.limited(
      collection.bulkWrite(
        of.map(each => ({ updateOne: { ...each, upsert } }) as never),
        { ordered: false, ...store.limits },
      ),
    );
  try {
    await write(true, updates);
  } catch (error) {
    const duplicates = duplicatesOf(error);
    if (!duplicates) throw error;
    const remaining = duplicates.map(index => updates[index]!);
    await write(false, remaining);
  }
}

export async function writeTally(store: Store, { name, days, minutes }: NamedTally): Promise<void> {
  const { usageDays, renderMinutes } = store.console;
  const once = { flushes: { $ne: name } };
  const $push = { flushes: { $each: [name], $slice: -FLUSHES_KEPT } };
  const ofDays = [...days.values()].map(
    ({ _id, ok, sandbox, failed, rejected, bytes, pages, durations, lastAt }) => ({
      filter: { _id, ...once },
      update: {
        $inc: {
          ...{ ok, sandbox, failed, rejected, bytes, pages },
          ...Object.fromEntries(
            Object.entries(durations).map(([bucket, count]) => [`durations.${bucket}`, count]),
          ),
        },
        $max: { lastAt },
        $push,
      },
    }),
  );
  const ofMinutes = [...minutes].map(([ms, counts]) => ({
    filter: { _id: new Date(ms), ...once },
    update: { $inc: counts, $setOnInsert: { expires: new Date(ms + MINUTE_KEPT_MS) }, $push },
  }));
  await upsertAll(store, usageDays, ofDays);
  await upsertAll(store, renderMinutes, ofMinutes);
}
