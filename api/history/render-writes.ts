// The writes of the log of renders. Each may be tried again after an answer that did not come: a
// record is known by its id, a tally by its name.
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

/** In a document: of each process the last few, since a write is tried again within minutes. */
const FLUSHES_KEPT = 64;
/** The live page shows half an hour. */
const MINUTE_KEPT_MS = 2 * 3600_000;

/** What is there already was written before its answer was lost. */
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
 * The documents are made by the first that writes to them: an update meets none then, whether it or
 * another process made it since.
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
    const there = duplicatesOf(error);
    if (!there) throw error;
    const left = there.map(index => updates[index]!);
    await store.limited(write(operations(false, left)));
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
