// Turns zod's issues into error messages such as "`landscape` must be true or false, not a string."
import type { z } from 'zod';
import { foreignAdvice } from './foreign-fields.ts';
import { nearestName } from './nearest-name.ts';

const MAX_SHOWN = 60;
/** Enough to fix a request in one go, and a limit for hostile requests. */
const MAX_PROBLEMS = 5;

/** A caller's text as a JSON string, cut to 60 characters. */
export function quoted(text: string): string {
  const cut = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN - 1)}…` : text;
  return JSON.stringify(cut.toWellFormed());
}

export const isJsonObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The type of a value for "not …": "an object", "a number". */
export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'number') return Number.isFinite(value) ? 'a number' : 'such a large number';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

const valueAt = (body: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown>)[key], body);

/** List items have the index 0 in `names`; the suggestion uses the caller's index. */
const unknownField = (name: string, names: readonly string[]) => {
  const index = /\.(\d+)\./.exec(name)?.[0];
  const nearest = nearestName(index ? name.replace(index, '.0.') : name, names)?.replace(
    '.0.',
    index ?? '.0.',
  );
  const advice =
    foreignAdvice(name) ??
    (nearest ? `Did you mean \`${nearest}\`?` : 'See /docs for the list of fields.');
  return `${code(name)} is not a valid field. ${advice}`;
};

/** A field name from the request in backticks, with backticks and control characters escaped, cut. */
const code = (name: string) =>
  `\`${quoted(name).slice(1, -1).replaceAll('\\"', '"').replaceAll('`', "'")}\``;

/** An issue of a value that has the right type itself. */
const isInside = ({ code, path }: z.core.$ZodIssue) =>
  path.length > 0 || code === 'custom' || code === 'unrecognized_keys';

function sentencesOf(issue: z.core.$ZodIssue, body: unknown, names: readonly string[]): string[] {
  const path = issue.path.map(String);
  const field = path.join('.');
  if (issue.code === 'unrecognized_keys')
    return issue.keys
      .slice(0, MAX_PROBLEMS)
      .map(key => unknownField([...path, key].join('.'), names));
  if (issue.code === 'custom')
    return [`${code(field)} ${issue.message}${issue.message.endsWith('?') ? '' : '.'}`];
  // The alternative of the value's own type says best what is wrong.
  const inside =
    issue.code === 'invalid_union'
      ? issue.errors.find(errors => errors.every(isInside))
      : undefined;
  if (inside)
    return inside.flatMap(each =>
      sentencesOf({ ...each, path: [...issue.path, ...each.path] }, body, names),
    );
  const value = valueAt(body, issue.path);
  if (field === '')
    return [`The request must be a JSON object with \`html\` or \`url\`, not ${kindOf(value)}.`];
  if (value === undefined) return [`${code(field)} is required and must be ${issue.message}.`];
  // Lists and objects are named, not quoted: they can be very long, or have a member `toString`.
  const given =
    issue.code === 'invalid_type' || typeof value === 'object'
      ? kindOf(value)
      : typeof value === 'string'
        ? quoted(value)
        : String(value);
  return [`${code(field)} must be ${issue.message}, not ${given}.`];
}

/**
 * Messages for the first five issues. The message of an issue says what the field must be ("true or
 * false"); that of a custom issue follows the field's name ("must not be empty"). `names` are the
 * suggestions for unknown fields, nested ones as `margin.top`.
 */
export function problems(
  issues: readonly z.core.$ZodIssue[],
  body: unknown,
  names: readonly string[],
): string[] {
  const sentences = issues.slice(0, MAX_PROBLEMS).flatMap(issue => sentencesOf(issue, body, names));
  return [...new Set(sentences)].slice(0, MAX_PROBLEMS);
}
