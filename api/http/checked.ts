// Validates input against the schema of a row. Errors name the field. Pure.
import { z } from 'zod';
import { invalid } from '../../common/contract/errors.ts';

const MAX_NAME = 60;
/** Of one error message. */
const MAX_SENTENCES = 5;

const quoted = (name: string) => `\`${name.slice(0, MAX_NAME).replace(/\p{C}/gu, '\ufffd')}\``;
/** What the input has: fields of a body, or parameters of a query. */
type Kind = 'field' | 'parameter';

function unknownNames(names: readonly string[], kind: Kind): string {
  const list = names.slice(0, MAX_SENTENCES).map(quoted).join(', ');
  return names.length === 1 ? `${list} is not a valid ${kind}.` : `${list} are not valid ${kind}s.`;
}

const TYPES: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'true or false',
  object: 'an object',
  array: 'an array',
};
const FORMATS: Record<string, string> = {
  date: 'a date such as 2026-11-30',
  datetime: 'a time in UTC such as 2026-11-30T12:00:00Z',
};
const UNITS: Record<string, string> = { string: ' characters', array: ' entries' };

/** The text after "must be", for a schema without its own message. */
function messageOf(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'invalid_type') return TYPES[issue.expected] ?? `of type ${issue.expected}`;
  if (issue.code === 'invalid_value') return `one of ${issue.values.map(String).join(', ')}`;
  if (issue.code === 'invalid_format') return FORMATS[issue.format] ?? `a valid ${issue.format}`;
  if (issue.code === 'too_big') return `at most ${issue.maximum}${UNITS[issue.origin] ?? ''}`;
  if (issue.code === 'too_small') return `at least ${issue.minimum}${UNITS[issue.origin] ?? ''}`;
  return undefined;
}

function sentence(issue: z.core.$ZodIssue, kind: Kind): string {
  const field = issue.path.map(String).join('.');
  if (issue.code === 'unrecognized_keys')
    return unknownNames(
      issue.keys.map(key => (field === '' ? key : `${field}.${key}`)),
      kind,
    );
  if (field === '') return 'The body must be a JSON object.';
  return `${quoted(field)} must be ${issue.message.replace(/^must be /, '')}.`;
}

/** The schema of an object that rejects unknown fields. */
export const strict = (schema: z.ZodType | undefined): z.ZodType =>
  schema instanceof z.ZodObject ? schema.strict() : (schema ?? z.strictObject({}));

/**
 * Returns the parsed value. Throws ApiError `validation_error` naming each invalid field or
 * parameter.
 */
export function checked<T>(schema: z.ZodType<T>, value: unknown, kind: Kind = 'field'): T {
  const parsed = schema.safeParse(value, { error: messageOf });
  if (parsed.success) return parsed.data;
  throw invalid(
    [...new Set(parsed.error.issues.map(issue => sentence(issue, kind)))]
      .slice(0, MAX_SENTENCES)
      .join(' '),
  );
}
