// The cursor of lists from newest to oldest: the time and the id of the last item returned. Pure.
import { invalid } from '../../common/contract/errors.ts';
import type { Document } from '../store/store.ts';

/** Milliseconds since 1970, and an id of letters, digits, `_`, `-` and `.`. */
const SHAPE = /^(\d{1,15})\.([\w.-]{1,100})$/;

/** Opaque to clients, so that it can change. */
const cursorOf = (at: Date, id: string): string =>
  Buffer.from(`${at.getTime()}.${id}`).toString('base64url');

/**
 * Filters for the items after the cursor in the order `{[field]: -1, _id: -1}`; without a cursor for
 * all. Throws ApiError `validation_error` for an invalid cursor.
 */
export function after(cursor: string | undefined, field: string): Document {
  if (cursor === undefined) return {};
  const [, ms, id] = SHAPE.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (ms === undefined || cursorOf(new Date(Number(ms)), id!) !== cursor)
    throw invalid(
      '`cursor` must be the unchanged `next` of an earlier response. Omit it to start with the newest.',
    );
  const at = new Date(Number(ms));
  // The first condition uses the index; the second orders items with the same time.
  return { [field]: { $lte: at }, $or: [{ [field]: { $lt: at } }, { _id: { $lt: id! } }] };
}

/** A page of at most `limit` items and the next cursor. `found`: up to `limit` + 1 items. */
export function pageOf<T extends { _id: string }>(
  found: T[],
  limit: number,
  timeOf: (item: T) => Date,
): { items: T[]; next: string | null } {
  const items = found.slice(0, limit);
  const last = items.at(-1);
  return { items, next: last && found.length > limit ? cursorOf(timeOf(last), last._id) : null };
}
