// The part of a request that the render log stores: harmless values as they are, all others as
// their size or count. Never page content, never a secret. Pure.
import { additionUrl } from '../../common/contract/additions.ts';
import type { Margin } from '../../common/contract/paper.ts';
import { type RenderRequest, validFields } from '../../common/contract/render-request.ts';

export type ShownOptions = Record<string, string | number | boolean>;

export interface RedactedRequest {
  /** Absent when a rejected request had neither. */
  source?: 'html' | 'url';
  /** Without user, query and fragment. */
  url?: string;
  reference?: string;
  options: ShownOptions;
  sandbox: boolean;
}

const MAX_URL_LENGTH = 2_048;
const MAX_TEXT_LENGTH = 200;

type Show = (value: never) => string | number | boolean | undefined;

const verbatim = (value: string | number | boolean) =>
  typeof value === 'string' ? value.slice(0, MAX_TEXT_LENGTH) : value;
const characters = ({ length }: string) =>
  `${length.toLocaleString('en')} character${length === 1 ? '' : 's'}`;
const howMany = (value: object) => Object.keys(value).length;
const addition = (text: string) => {
  const url = additionUrl(text);
  return url === undefined ? `inline, ${characters(text)}` : `from ${new URL(url).host}`;
};
const sides = (margin: Margin | Record<string, Margin | undefined>) =>
  typeof margin === 'object'
    ? Object.entries(margin)
        .map(([side, length]) => `${side} ${length}`.slice(0, MAX_TEXT_LENGTH))
        .join(', ')
    : String(margin).slice(0, MAX_TEXT_LENGTH);
const edge = ({ html, height }: { html?: string; height?: string }) =>
  [
    ...(html === undefined ? [] : [characters(html)]),
    ...(height === undefined ? [] : [`height ${height}`.slice(0, MAX_TEXT_LENGTH)]),
  ].join(', ');

/** Lists every field, so that a new field of the contract needs a decision here. */
const SHOW: Record<keyof RenderRequest, Show> = {
  html: characters,
  url: () => undefined,
  format: verbatim,
  paper_width: verbatim,
  paper_height: verbatim,
  prefer_css_page_size: verbatim,
  landscape: verbatim,
  print_background: verbatim,
  scale: verbatim,
  zoom: verbatim,
  margin: sides,
  header: edge,
  footer: edge,
  pages: verbatim,
  single_page: verbatim,
  emulate_media: verbatim,
  raise_for_status: verbatim,
  cookies: howMany,
  extra_http_headers: howMany,
  auth: () => true,
  css: addition,
  javascript: addition,
  lazy_load_images: verbatim,
  finish_animations: verbatim,
  fail_on_resource_error: verbatim,
  wait_delay: verbatim,
  wait_for_selector: characters,
  wait_for_expression: characters,
  wait_for_network_idle: verbatim,
  timeout: verbatim,
  metadata: (metadata: object) => Object.keys(metadata).join(', '),
  filename: verbatim,
  reference: () => undefined,
  sandbox: verbatim,
};

function redactedUrl(text: string): string {
  const { protocol, host, pathname } = new URL(text);
  return `${protocol}//${host}${pathname}`.slice(0, MAX_URL_LENGTH);
}

/** For valid fields. Takes microseconds for a request of any size. */
export function redactedRequest(request: Partial<RenderRequest>): RedactedRequest {
  const options: ShownOptions = {};
  // The cast: TypeScript does not relate the type of a value to that of its field.
  for (const [field, value] of Object.entries(request)) {
    const shown =
      value === undefined ? undefined : SHOW[field as keyof RenderRequest](value as never);
    if (shown !== undefined) options[field] = shown;
  }
  return {
    ...(request.html !== undefined && { source: 'html' }),
    ...(request.url !== undefined && { source: 'url', url: redactedUrl(request.url) }),
    ...(request.reference !== undefined && { reference: request.reference }),
    options,
    sandbox: request.sandbox ?? false,
  };
}

/** For the body of a rejected request: its valid fields. */
export const redactedBody = (body: unknown): RedactedRequest => redactedRequest(validFields(body));
