// What the fields of a render request are made of: a text or a switch, its rule, and what the
// description shows of it.
import { z } from 'zod';

/**
 * What the description shows of a field besides its type. `examples` are values that the service
 * accepts: a test sends each of them.
 */
export interface Shown {
  description: string;
  examples: unknown[];
  default?: unknown;
  pattern?: string;
  format?: string;
  minLength?: number;
  maxLength?: number;
}

/**
 * What is wrong with a value, as the words that follow the field's name; undefined when nothing is.
 */
export type Problem<T> = (value: T) => string | undefined;

/**
 * A text that must be given, with a rule of its own. `accepts` is what the field must be ("a length
 * in a string").
 */
export const requiredText = (accepts: string, problem: Problem<string>, shown: Shown) =>
  z
    .string({ error: accepts })
    .superRefine((value, context) => {
      const message = problem(value);
      if (message !== undefined) context.addIssue({ code: 'custom', message });
    })
    .meta({ ...shown });

/** Like requiredText, but it may be left out. */
export const text = (accepts: string, problem: Problem<string>, shown: Shown) =>
  requiredText(accepts, problem, shown).optional();

export const trueOrFalse = (shown: Shown) =>
  z
    .boolean({ error: 'true or false' })
    .meta({ ...shown })
    .optional();

/** Control characters of ASCII and Latin-1, which no name or value on one line can hold. */
export const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;
/** The same for the descriptions: a text without them. */
export const NO_CONTROL_PATTERN = '^[^\\u0000-\\u001f\\u007f-\\u009f]*$';

/**
 * Texts of one field go to Chrome in one command, of which a worker takes 1 MiB (PARSED_BYTES in
 * worker/gateway/cdp-filter.ts). A character makes at most three bytes of that, or four as two
 * units; what JSON escapes is counted apart.
 */
export const MAX_COMMAND_LENGTH = 262_144;

/**
 * Says it when a text has more characters than `max`, counted as JSON Schema does: a pair of
 * surrogates is one.
 */
export function lengthProblem(value: string, max: number): string | undefined {
  if (value.length <= max) return undefined;
  // More than twice as many units are too many characters whatever they are; counting them would
  // only cost time.
  let length = value.length > 2 * max ? value.length : 0;
  if (length === 0) for (const _ of value) length++;
  return length > max ? `must be at most ${max} characters long, not ${length}` : undefined;
}

/**
 * All extra headers together, and all cookies together: each a quarter of the 256 KiB that Chrome
 * and the worker's guard take as the head of one request.
 */
export const MAX_HEAD_BYTES = 65_536;

/** A text that is more than white space, and not longer than `max` characters. */
export const notBlank =
  (what: string, max: number): Problem<string> =>
  value =>
    lengthProblem(value, max) ?? (value.trim() === '' ? `must be ${what}, not blank` : undefined);
