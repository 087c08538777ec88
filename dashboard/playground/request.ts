// What the person has put together in the playground, and what is sent of it. Pure: the form, the
// JSON view, the call and the code are all made from this.
import type { RequestField } from './fields.ts';
import type { Json } from './snippets.ts';

export type RequestOptions = { [name: string]: Json };

export interface Draft {
  source: 'html' | 'url';
  /** Both are kept, so that going from one to the other loses nothing. */
  html: string;
  url: string;
  /** Everything else that was chosen. A field that is not here means its default. */
  options: RequestOptions;
  /** A watermark on every page, and nothing is counted. */
  sandbox: boolean;
}

export const EMPTY: Draft = { source: 'html', html: '', url: '', options: {}, sandbox: true };

const isObject = (value: unknown): value is RequestOptions =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The request as the JSON view shows it: without `sandbox`, which the switch decides. */
export const requestOf = ({ source, html, url, options }: Draft): RequestOptions => ({
  [source]: source === 'html' ? html : url,
  ...options,
});

/** The request as a program sends it to /v1/render. */
export const callOf = (draft: Draft): RequestOptions => ({
  ...requestOf(draft),
  ...(draft.sandbox && { sandbox: true }),
});

/** The request as the playground sends it, where `sandbox` is never left to chance. */
export const playgroundCallOf = (draft: Draft): RequestOptions => ({
  ...requestOf(draft),
  sandbox: draft.sandbox,
});

/** Takes what stands in the JSON view. Throws an Error with a sentence when it is no request. */
export function draftFrom(text: string, before: Draft): Draft {
  let request: unknown;
  try {
    request = JSON.parse(text);
  } catch (error) {
    throw new Error(`This is not JSON yet: ${(error as Error).message}`);
  }
  if (!isObject(request)) throw new Error('A request is a JSON object with `html` or `url`.');
  const { html, url, sandbox, ...options } = request;
  if (html !== undefined && url !== undefined)
    throw new Error('Give exactly one of `html` and `url`.');
  const given = html ?? url;
  if (typeof given !== 'string') throw new Error('Give `html` or `url`, as a text.');
  if (sandbox !== undefined && typeof sandbox !== 'boolean')
    throw new Error('`sandbox` must be true or false.');
  const source = html === undefined ? 'url' : 'html';
  return { ...before, source, [source]: given, options, sandbox: sandbox ?? before.sandbox };
}

/**
 * The object with `value` under `name`; undefined takes it away. What was there keeps its place, so
 * that the JSON does not jump about.
 */
export function withMember(
  object: RequestOptions,
  name: string,
  value: Json | undefined,
): RequestOptions {
  const { [name]: _, ...others } = object;
  return value === undefined ? others : { ...object, [name]: value };
}

/** The same for a group of options, which goes when nothing is left in it but empty texts. */
export function withGroupMember(
  group: RequestOptions,
  name: string,
  value: Json | undefined,
): RequestOptions | undefined {
  const next = withMember(group, name, value);
  return Object.values(next).every(member => member === '') ? undefined : next;
}

/** A member that ought to be an object: what else a JSON view left there counts as none. */
export const objectIn = (value: Json | undefined): RequestOptions => (isObject(value) ? value : {});

/**
 * What a text field leaves in the request: nothing when it is empty, unless it must be given. A
 * text that equals the default stays: given margins overrule the page's own, a given `scale`
 * overrules `zoom`.
 */
export const textValue = (text: string, { required }: RequestField): string | undefined =>
  text === '' && !required ? undefined : text;

/** What a switch leaves: nothing when it stands where the default is. */
export const switchValue = (on: boolean, { standard }: RequestField): boolean | undefined =>
  on === (standard ?? false) ? undefined : on;

/**
 * Which fields the service's sentences complain of, each with what it says: those that stand at the
 * beginning of a sentence ("`margin.top` must be …"). At the field itself its name need not be said
 * again.
 */
export function complaints(message: string): Map<string, string> {
  const sentences = message.split(/(?<=[.?]) (?=`)/);
  const found = sentences.flatMap(sentence => {
    const [, path, rest = ''] = /^`([^`]+)` (.*)$/s.exec(sentence) ?? [];
    const plain = rest.replaceAll('`', '');
    return path === undefined
      ? []
      : [[path, plain.charAt(0).toUpperCase() + plain.slice(1)] as [string, string]];
  });
  return new Map(found);
}
