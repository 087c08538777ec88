// What is wrong with a request, in sentences: from zod's issues to "`landscape` must be true or
// false, not a string."
import type { z } from 'zod';
import { nearestName } from './nearest-name.ts';

const MAX_SHOWN = 60;
/** Enough to mend a request in one go, and a bound on what a hostile one makes us write. */
const MAX_PROBLEMS = 5;

/** A caller's text, quoted, with control characters visible, cut to 60 characters. */
export function quoted(text: string): string {
  const cut = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN - 1)}…` : text;
  return JSON.stringify(cut.toWellFormed());
}

/** "an object", "a number": what a value is, for "not …". */
export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'number') return Number.isFinite(value) ? 'a number' : 'a number that large';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

const valueAt = (body: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown>)[key], body);

/** Names of lists stand in `names` with the index 0; the suggestion has the caller's. */
const unknownField = (name: string, names: readonly string[]) => {
  const index = /\.(\d+)\./.exec(name)?.[0];
  const nearest = nearestName(index ? name.replace(index, '.0.') : name, names)?.replace(
    '.0.',
    index ?? '.0.',
  );
  return `${code(name)} is not a field${nearest ? `; did you mean \`${nearest}\`?` : '. /docs lists the fields.'}`;
};

/**
 * A field's name as the caller wrote it. Backticks and control characters cannot end the quotation,
 * and a long name is cut.
 */
const code = (name: string) =>
  `\`${quoted(name).slice(1, -1).replaceAll('\\"', '"').replaceAll('`', "'")}\``;

function sentencesOf(issue: z.core.$ZodIssue, body: unknown, names: readonly string[]): string[] {
  const path = issue.path.map(String);
  const field = path.join('.');
  if (issue.code === 'unrecognized_keys')
    return issue.keys
      .slice(0, MAX_PROBLEMS)
      .map(key => unknownField([...path, key].join('.'), names));
  if (issue.code === 'custom')
    return [`${code(field)} ${issue.message}${issue.message.endsWith('?') ? '' : '.'}`];
  const value = valueAt(body, issue.path);
  if (field === '')
    return [`The body must be a JSON object with \`html\` or \`url\`, not ${kindOf(value)}.`];
  if (value === undefined) return [`${code(field)} is missing; it must be ${issue.message}.`];
  // Lists and objects are named, not shown: they can be as long as a body, and one with a member
  // `toString` is no text at all.
  const given =
    issue.code === 'invalid_type' || typeof value === 'object'
      ? kindOf(value)
      : typeof value === 'string'
        ? quoted(value)
        : String(value);
  return [`${code(field)} must be ${issue.message}, not ${given}.`];
}

/**
 * The issues as sentences, the first five. An issue's message is what the field must be ("true or
 * false"); a custom one is all that follows the field's name ("must not be empty"). `names` are the
 * fields to suggest for an unknown one, those inside objects as `margin.top`.
 */
export function problems(
  issues: readonly z.core.$ZodIssue[],
  body: unknown,
  names: readonly string[],
): string[] {
  const sentences = issues.slice(0, MAX_PROBLEMS).flatMap(issue => sentencesOf(issue, body, names));
  return [...new Set(sentences)].slice(0, MAX_PROBLEMS);
}
