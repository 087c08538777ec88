// Filters for a search by prefix. Pure.
import type { Document } from '../../store/store.ts';

/** Matches texts that begin with `typed`, ignoring case. `typed` is not a pattern. */
export const beginsWith = (typed: string): Document => ({
  $regex: `^${typed.replace(/[\\^$.*+?()[\]{}|#/-]/g, '\\$&')}`,
  $options: 'i',
});
