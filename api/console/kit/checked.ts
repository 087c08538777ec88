// Checks what came in against a row's schema, and says what is wrong by the field's name. Pure.
import { z } from 'zod';
import { invalid } from '../../../common/contract/errors.ts';

const MAX_NAME = 60;
/** What is said at once: more would not be read. */
const MAX_SENTENCES = 5;

const quoted = (name: string) => `\`${name.slice(0, MAX_NAME).replace(/\p{C}/gu, '\ufffd')}\``;
const noSuch = (names: readonly string[]) =>
  `${names.slice(0, MAX_SENTENCES).map(quoted).join(', ')}: no such field.`;

const TYPES: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
};
const FORMATS: Record<string, string> = {
  date: 'a day such as 2026-11-30',
  datetime: 'a time in UTC such as 2026-11-30T12:00:00Z',
};
const UNITS: Record<string, string> = { string: ' characters', array: ' entries' };

/** For a schema without a message of its own: the text after "must be". */
function messageOf(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'invalid_type') return TYPES[issue.expected] ?? 'of another type';
  if (issue.code === 'invalid_value') return `one of ${issue.values.map(String).join(', ')}`;
  if (issue.code === 'invalid_format') return FORMATS[issue.format] ?? 'written in another way';
  if (issue.code === 'too_big') return `at most ${issue.maximum}${UNITS[issue.origin] ?? ''}`;
  if (issue.code === 'too_small') return `at least ${issue.minimum}${UNITS[issue.origin] ?? ''}`;
  return undefined;
}

function sentence(issue: z.core.$ZodIssue): string {
  const field = issue.path.map(String).join('.');
  if (issue.code === 'unrecognized_keys')
    return noSuch(issue.keys.map(key => (field === '' ? key : `${field}.${key}`)));
  if (field === '') return 'The body must be a JSON object.';
  return `${quoted(field)} must be ${issue.message.replace(/^must be /, '')}.`;
}

/** A schema of an object that takes no other fields than its own. */
export const strict = (schema: z.ZodType | undefined): z.ZodType =>
  schema instanceof z.ZodObject ? schema.strict() : (schema ?? z.strictObject({}));

/**
 * The value as the schema returns it. Throws ApiError `validation_error` that names each wrong
 * field.
 */
export function checked(schema: z.ZodType, value: unknown): unknown {
  const parsed = schema.safeParse(value, { error: messageOf });
  if (parsed.success) return parsed.data;
  throw invalid([...new Set(parsed.error.issues.map(sentence))].slice(0, MAX_SENTENCES).join(' '));
}
