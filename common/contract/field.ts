// Building blocks of the fields of a render request: strings and booleans with a rule and their
// OpenAPI description.
import { z } from 'zod';

/** OpenAPI keywords of a field besides its type. A test sends each of the `examples`. */
export interface Shown {
  description: string;
  examples: unknown[];
  default?: unknown;
  pattern?: string;
  format?: string;
  minLength?: number;
  maxLength?: number;
}

/** Returns the error text that follows the field's name, or undefined for a valid value. */
export type Problem<T> = (value: T) => string | undefined;

/** A required string with its own rule. `accepts` says what the field must be ("a length string"). */
export const requiredText = (accepts: string, problem: Problem<string>, shown: Shown) =>
  z
    .string({ error: accepts })
    .superRefine((value, context) => {
      const message = problem(value);
      if (message !== undefined) context.addIssue({ code: 'custom', message });
    })
    .meta({ ...shown });

/** Like requiredText, but optional. */
export const text = (accepts: string, problem: Problem<string>, shown: Shown) =>
  requiredText(accepts, problem, shown).optional();

export const trueOrFalse = (shown: Shown) =>
  z
    .boolean({ error: 'true or false' })
    .meta({ ...shown })
    .optional();

/** Control characters of ASCII and Latin-1, which are invalid in single-line names and values. */
export const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;
/** A text without control characters, as a pattern for the OpenAPI document. */
export const NO_CONTROL_PATTERN = '^[^\\u0000-\\u001f\\u007f-\\u009f]*$';

/**
 * A field goes to Chrome in one command, and a worker accepts 1 MiB per command (PARSED_BYTES in
 * worker/gateway/cdp-filter.ts). A character takes at most four bytes; JSON escapes are checked
 * separately.
 */
export const MAX_COMMAND_LENGTH = 262_144;

/** Checks the length in characters as JSON Schema counts them: a surrogate pair is one character. */
export function lengthProblem(value: string, max: number): string | undefined {
  if (value.length <= max) return undefined;
  // More than twice as many code units are always too many characters, so they are not counted.
  let length = value.length > 2 * max ? value.length : 0;
  if (length === 0) for (const _ of value) length++;
  return length > max ? `must be at most ${max} characters long, not ${length}` : undefined;
}

/**
 * Limit of all extra headers together and of all cookies together: each a quarter of the 256 KiB
 * that Chrome and the egress guard accept as the head of one request.
 */
export const MAX_HEAD_BYTES = 65_536;

/** A text that is not blank and has at most `max` characters. */
export const notBlank =
  (what: string, max: number): Problem<string> =>
  value =>
    lengthProblem(value, max) ?? (value.trim() === '' ? `must be ${what}, not blank` : undefined);
