// The draft of the playground and the requests derived from it. The form, the JSON view, the
// request and the code snippets all use this module.

import type { Json } from '../../common/contract/snippets.ts';
import { capitalize } from '../parts/format.ts';
import type { RequestField } from './fields.ts';

export type RequestOptions = { [name: string]: Json };

export interface Draft {
  source: 'html' | 'url';
  /** Both are kept, so that switching between them loses nothing. */
  html: string;
  url: string;
  /** All other fields that were set. */
  options: RequestOptions;
  /**
   * Adds a watermark; the render does not count toward usage. Undefined until the switch is used:
   * on in the playground, absent in the copied code.
   */
  sandbox?: boolean;
}

export const EMPTY: Draft = { source: 'html', html: '', url: '', options: {} };

const isObject = (value: unknown): value is RequestOptions =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The request as shown in the JSON view: without `sandbox`, which has its own switch. */
export const requestOf = ({ source, html, url, options }: Draft): RequestOptions => ({
  [source]: source === 'html' ? html : url,
  ...options,
});

/** The request for /v1/render, as in the code snippets. */
export const callOf = (draft: Draft): RequestOptions => ({
  ...requestOf(draft),
  ...(draft.sandbox && { sandbox: true }),
});

/** The request of the playground, always with an explicit `sandbox`. */
export const playgroundCallOf = (draft: Draft): RequestOptions => ({
  ...requestOf(draft),
  sandbox: draft.sandbox ?? true,
});

/** Parses the text of the JSON view. Throws an Error with a message for the user. */
export function draftFrom(text: string, before: Draft): Draft {
  let request: unknown;
  try {
    request = JSON.parse(text);
  } catch (error) {
    throw new Error(`Invalid JSON: ${(error as Error).message}`);
  }
  if (!isObject(request)) throw new Error('The request must be an object with `html` or `url`.');
  const { html, url, sandbox, ...options } = request;
  if (html !== undefined && url !== undefined)
    throw new Error('Set exactly one of `html` and `url`.');
  const given = html ?? url;
  if (typeof given !== 'string') throw new Error('Set `html` or `url` to a string.');
  if (sandbox !== undefined && typeof sandbox !== 'boolean')
    throw new Error('`sandbox` must be true or false.');
  const source = html === undefined ? 'url' : 'html';
  return {
    ...before,
    source,
    [source]: given,
    options,
    ...(sandbox !== undefined && { sandbox }),
  };
}

/** Sets the member `name`, or deletes it if `value` is undefined. Keeps the order of members. */
export function withMember(
  object: RequestOptions,
  name: string,
  value: Json | undefined,
): RequestOptions {
  const { [name]: _, ...others } = object;
  return value === undefined ? others : { ...object, [name]: value };
}

/** The same for a group of options. Undefined if only empty texts remain. */
export function withGroupMember(
  group: RequestOptions,
  name: string,
  value: Json | undefined,
): RequestOptions | undefined {
  const next = withMember(group, name, value);
  return Object.values(next).every(member => member === '') ? undefined : next;
}

/** The value if it is an object. The JSON view can leave other values; they count as empty. */
export const objectIn = (value: Json | undefined): RequestOptions => (isObject(value) ? value : {});

/** The members of a group. One text for all of them becomes the value of each. */
export const membersIn = (
  value: Json | undefined,
  { takesText, fields }: RequestField,
): RequestOptions =>
  takesText && (typeof value === 'string' || typeof value === 'number')
    ? Object.fromEntries(fields.map(({ name }) => [name, value]))
    : objectIn(value);

/**
 * The request value of a text field: undefined if it is empty and optional. A text that equals the
 * default is kept, because an explicit value can differ from an absent one: explicit margins
 * override those of the page.
 */
export const textValue = (text: string, { required }: RequestField): string | undefined =>
  text === '' && !required ? undefined : text;

/** The request value of a switch: undefined if it equals the default. */
export const switchValue = (on: boolean, { defaultValue }: RequestField): boolean | undefined =>
  on === (defaultValue ?? false) ? undefined : on;

/**
 * Splits an error message of the API into messages by field: each sentence that begins with a field
 * in backticks ("`margin.top` must be …"), without the name of the field.
 */
export function fieldErrorsOf(message: string): Map<string, string> {
  const sentences = message.split(/(?<=[.?]) (?=`)/);
  const found = sentences.flatMap(sentence => {
    const [, path, rest = ''] = /^`([^`]+)` (?:is )?(.*)$/s.exec(sentence) ?? [];
    return path === undefined
      ? []
      : [[path, capitalize(rest).replaceAll('`', '')] as [string, string]];
  });
  return new Map(found);
}
