// The MongoDB writes of the render log. Each is safe to repeat when its answer was lost: a record is
// identified by its ID, a tally by its name.
import {
  type AnyBulkWriteOperation,
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
  write: (operations: AnyBulkWriteOperation<T>[]) => Promise<unknown>,
  updates: { filter: Document; update: Document }[],
): Promise<void> {
  const operations = (upsert: boolean, of: typeof updates) =>
    of.map(each => ({ updateOne: { ...each, upsert } }) as never);
  try {
    await store.limited(write(operations(true, updates)));
  } catch (error) {
    const duplicates = duplicatesOf(error);
    if (!duplicates) throw error;
    const remaining = duplicates.map(index => updates[index]!);
    await store.limited(write(operations(false, remaining)));
  }
}

export async function writeTally(store: Store, { name, days, minutes }: NamedTally): Promise<void> {
  const { usageDays, renderMinutes } = store.console;
  const once = { flushes: { $ne: name } };
  const $push = { flushes: { $each: [name], $slice: -FLUSHES_KEPT } };
  const bulk = { ordered: false, ...store.limits } as const;
  const ofDays = [...days.values()].map(
    ({ _id, ok, sandbox, failed, bytes, pages, durations, lastAt }) => ({
      filter: { _id, ...once },
      update: {
        $inc: {
          ...{ ok, sandbox, failed, bytes, pages },
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
  if (ofDays.length > 0)
    await upsertAll(store, operations => usageDays.bulkWrite(operations as never, bulk), ofDays);
  if (ofMinutes.length > 0)
    await upsertAll(
      store,
      operations => renderMinutes.bulkWrite(operations as never, bulk),
      ofMinutes,
    );
}
