// The cursor of lists that run from the newest to the oldest: the time and the id of the last item
// that was given. Pure.
import { invalid } from '../../../common/contract/errors.ts';
import type { Document } from '../../store/store.ts';

/** Ids are letters, digits, `_` and `-` throughout; a time is milliseconds since 1970. */
const SHAPE = /^(\d{1,15})\.([\w-]{1,100})$/;

/** Opaque to callers, so that it can change. */
const cursorOf = (at: Date, id: string): string =>
  Buffer.from(`${at.getTime()}.${id}`).toString('base64url');

/**
 * A filter for what comes after the cursor in the order `{[field]: -1, _id: -1}`; everything
 * without one. Throws ApiError `validation_error` for a text that no answer of ours held.
 */
export function after(cursor: string | undefined, field: string): Document {
  if (cursor === undefined) return {};
  const [, ms, id] = SHAPE.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (ms === undefined || cursorOf(new Date(Number(ms)), id!) !== cursor)
    throw invalid(
      '`cursor` must be the `next` of an earlier answer, as it was given. Leave it out for the newest.',
    );
  const at = new Date(Number(ms));
  // The first condition is what an index by time is entered at; the second separates those of the
  // same time.
  return { [field]: { $lte: at }, $or: [{ [field]: { $lt: at } }, { _id: { $lt: id! } }] };
}

/**
 * The page of at most `limit` items, and where the next one begins. `found`: one more than `limit`
 * where there are so many.
 */
export function pageOf<T extends { _id: string }>(
  found: T[],
  limit: number,
  timeOf: (item: T) => Date,
): { items: T[]; next: string | null } {
  const items = found.slice(0, limit);
  const last = items.at(-1);
  return { items, next: last && found.length > limit ? cursorOf(timeOf(last), last._id) : null };
}
