// What somebody types to find something by the beginning of its name. Pure.
import type { Document } from '../../store/store.ts';

/** A filter for texts that begin with `typed`, whatever their case. Nothing in it is a pattern. */
export const beginsWith = (typed: string): Document => ({
  $regex: `^${typed.replace(/[\\^$.*+?()[\]{}|#/-]/g, '\\$&')}`,
  $options: 'i',
});
