// Validates the names of accounts and keys. Pure.
import { invalid } from '../../common/contract/errors.ts';

const NAME = /^\S(?:.{0,98}\S)?$/u;

/** Throws validation_error that names `field`. */
export function checkName(field: string, name: string): void {
  if (!NAME.test(name) || /\p{C}/u.test(name))
    throw invalid(
      `\`${field}\` must be 1 to 100 printable characters without leading or trailing spaces.`,
    );
}
