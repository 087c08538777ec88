// The settings of a render: a checked request translated into what is done on the page, in inches
// and milliseconds, with defaults filled in. Pure; it decides nothing beyond the contract.
import { additionUrl } from '../../common/contract/additions.ts';
import { cookieDomain, DEFAULT_PATH } from '../../common/contract/cookies.ts';
import { parseTimeoutMs, parseWaitDelayMs } from '../../common/contract/durations.ts';
import {
  DEFAULT_MEDIA,
  DEFAULT_PRINT_BACKGROUND,
  DEFAULT_SCALE,
} from '../../common/contract/fields.ts';
import { pageRangesText, parsePages } from '../../common/contract/page-ranges.ts';
import { marginsOf, paperOf, type Side, usesCssPageSize } from '../../common/contract/paper.ts';
import { replacePlaceholders } from '../../common/contract/placeholders.ts';
import type { RenderRequest } from '../../common/contract/render-request.ts';
import { authorizationName } from '../../common/contract/request-headers.ts';
import type { PdfMetadata } from '../pdf/printed.ts';

/** Scanning more costs more than it saves. */
const MAX_LENGTH = 256 * 1024;

/**
 * What may make a document dynamic: scripts and handlers, other documents, media, animations,
 * fonts, images that only layout asks for, loading put off, refreshes; and what is fetched at all,
 * since Chrome loads at half speed for a hidden page. When in doubt it matches; a backslash could
 * hide any of these in CSS.
 */
const DYNAMIC = new RegExp(
  [
    '<script|\\bon\\w+\\s*=|javascript:',
    '<link|<i?frame|<object|<embed|<portal|<applet|http-equiv',
    '<progress|<video|<audio|<canvas|<animate|<set\\b|<marquee|<image|<use|autofocus|contenteditable',
    '@import|@font-face|@keyframes|animation|transition|content-visibility',
    'url\\(|image-set|\\bsrc\\s*=(?!\\s*["\']?data:)|\\bbackground\\s*=|\\bloading\\s*=|\\bsrcset\\s*=',
    '\\\\',
  ].join('|'),
  'i',
);

export const isStaticHtml = (html: string): boolean =>
  html.length <= MAX_LENGTH && !DYNAMIC.test(html);

/** A cookie as Chrome takes it; a domain with a leading dot is for subdomains too. */
export interface CookieSetting {
  name: string;
  value: string;
  domain: string;
  path: string;
  secure: boolean;
  httpOnly: boolean;
  sameSite?: 'Strict' | 'Lax' | 'None';
}

/** A style or script to add: loaded by the page from its address, or as it is. */
export type Addition = { kind: 'url'; url: string } | { kind: 'inline'; text: string };

export const PX_PER_IN = 96;

export interface RenderSettings {
  /** Which statuses of the main document fail: `errors` are 4xx and 5xx, `all` adds redirects. */
  source:
    | { kind: 'html'; html: string }
    | { kind: 'url'; url: string; raiseForStatus: 'errors' | 'all' | 'never' };
  /**
   * Sent with the page and its assets, without `Authorization`, which only the origin of `url`
   * receives.
   */
  headers: Record<string, string>;
  /** The value of the header `Authorization`, for the origin of `url` alone. */
  authorization?: string;
  /**
   * Answers to a challenge of the origin of `url`, and of no other. Never together with
   * `authorization`.
   */
  basicAuth?: { username: string; password: string };
  cookies: CookieSetting[];
  css?: Addition;
  javascript?: Addition;
  lazyImages: boolean;
  finishAnimations: boolean;
  failOnResourceError: boolean;
  media: 'print' | 'screen';
  waits: { selector?: string; expression?: string; networkIdle: boolean; delayMs: number };
  /** The request's own time limit, not over the installation's. */
  timeoutMs?: number;
  /**
   * The sheet after `landscape`. With `singlePage` its height is the one to lay out in; the content
   * decides the one to print.
   */
  paper: { widthIn: number; heightIn: number };
  singlePage: boolean;
  /** The sizes of the page's own @page rules count; `paper` is for pages without one. */
  cssPageSize: boolean;
  /**
   * `pageRanges` is Chrome's notation; absent = all pages. `marginIn` has the heights of header and
   * footer in it, whose html is the caller's, checked.
   */
  print: {
    scale: number;
    printBackground: boolean;
    marginIn: Record<Side, number>;
    /**
     * The caller asked for margins, a header or a footer: they hold whatever the page's own @page
     * rules say.
     */
    marginsHold: boolean;
    pageRanges?: string;
    headerHtml?: string;
    footerHtml?: string;
  };
  /** For the finished PDF. */
  metadata: PdfMetadata;
  sandbox: boolean;
  /**
   * Nothing in the document can move, run or load, and the request adds to it or waits for nothing.
   */
  isStatic: boolean;
  /**
   * `warm`: nothing in the document runs or loads (see isolation.ts), so the page may be sealed and
   * may have served the account before.
   */
  isolation: 'warm' | 'fresh';
}

/** The settings without what follows from them. */
type RequestSettings = Omit<RenderSettings, 'isStatic' | 'isolation'>;

function source({ html, url, raise_for_status }: RenderRequest): RenderSettings['source'] {
  if (url === undefined) return { kind: 'html', html: html! };
  // Normalized by the parser, so that Chrome opens exactly what was checked.
  const raiseForStatus =
    raise_for_status === undefined ? 'errors' : raise_for_status ? 'all' : 'never';
  return { kind: 'url', url: new URL(url).href, raiseForStatus };
}

/** Leading and trailing whitespace is not part of a header's value (RFC 9110, 5.5). */
function headers({
  extra_http_headers: given,
  auth,
}: RenderRequest): Pick<RenderSettings, 'headers' | 'authorization' | 'basicAuth'> {
  const basicAuth = auth === undefined ? {} : { basicAuth: auth };
  if (given === undefined) return { headers: {}, ...basicAuth };
  const name = authorizationName(given);
  const others = Object.entries(given).filter(([other]) => other !== name);
  return {
    headers: Object.fromEntries(others.map(([other, value]) => [other, value.trim()])),
    ...(name === undefined ? {} : { authorization: given[name]!.trim() }),
    ...basicAuth,
  };
}

const cookies = ({ cookies: given = [] }: RenderRequest): CookieSetting[] =>
  given.map(({ name, value, domain, path, secure, http_only, same_site }) => ({
    name,
    value,
    domain: cookieDomain(domain),
    path: path ?? DEFAULT_PATH,
    secure: secure ?? false,
    httpOnly: http_only ?? false,
    ...(same_site === undefined ? {} : { sameSite: same_site }),
  }));

function addition(text: string): Addition {
  const url = additionUrl(text);
  return url === undefined ? { kind: 'inline', text } : { kind: 'url', url: new URL(url).href };
}

/** A slash as it is, escaped as in JSON, or as a character reference. */
const SLASH = String.raw`(?:\\?[/\\]|&#(?:x2f|0*47);|&sol;)`;
/**
 * A URL with a server, such as `http://a`, `"//a` or `https:\/\/a`; not that of an XML namespace.
 */
const SERVER_URL = new RegExp(
  String.raw`(?:https?:|[:(=]${SLASH}{2}|["']\s*${SLASH}{2})(?!/*www\.w3\.org/)`,
  'i',
);

/**
 * Whether to watch the network, which costs Chrome some milliseconds: not for HTML that names no
 * server and therefore loads nothing.
 */
export function watchesNetwork(settings: RenderSettings): boolean {
  const { source, css, javascript, waits, isStatic, isolation, failOnResourceError } = settings;
  if (isStatic || isolation === 'warm') return false;
  if (source.kind === 'url' || waits.networkIdle || failOnResourceError) return true;
  const additions = [css, javascript].filter(each => each !== undefined);
  return (
    SERVER_URL.test(source.html) ||
    additions.some(each => each.kind === 'url' || SERVER_URL.test(each.text))
  );
}

/** Requests of the page are paused, to add headers or to answer HTTP Basic. */
export const intercepts = ({ headers, authorization, basicAuth }: RequestSettings): boolean =>
  Object.keys(headers).length > 0 || authorization !== undefined || basicAuth !== undefined;

/**
 * Whether to bypass the page's Content-Security-Policy: only for what it could block, a sheet or
 * script from a URL and a sheet that loads something itself. Other inline additions are exempt from
 * it.
 */
export const setsPolicyAside = ({ css, javascript, isolation }: RenderSettings): boolean =>
  isolation === 'fresh' && // a static document has no policy
  (css?.kind === 'url' ||
    javascript?.kind === 'url' ||
    (css?.kind === 'inline' && /@import|url\(|image-set\(|src\(/i.test(css.text)));

/** The width and height of the print area in CSS pixels, as the page sees it under `scale`. */
export function printArea({ paper, print }: RenderSettings): { widthPx: number; heightPx: number } {
  const { top, right, bottom, left } = print.marginIn;
  const px = (inches: number) => Math.max(1, Math.round((inches * PX_PER_IN) / print.scale));
  return { widthPx: px(paper.widthIn - left - right), heightPx: px(paper.heightIn - top - bottom) };
}

/** Whether the page is neither measured, changed by scripts nor waited for. */
export function staysAsWritten(settings: RequestSettings): boolean {
  const { waits } = settings;
  return !(
    settings.singlePage ||
    settings.javascript ||
    settings.lazyImages ||
    settings.finishAnimations ||
    settings.failOnResourceError ||
    settings.cookies.length > 0 ||
    intercepts(settings) ||
    waits.selector !== undefined ||
    waits.expression !== undefined ||
    waits.networkIdle ||
    waits.delayMs > 0
  );
}

const isStatic = (settings: RequestSettings): boolean =>
  settings.source.kind === 'html' &&
  !settings.css &&
  staysAsWritten(settings) &&
  isStaticHtml(settings.source.html);

/** Translates a request that parseRenderRequest accepted. */
export function renderSettings(request: RenderRequest): RenderSettings {
  const { widthIn, heightIn, singlePage } = paperOf(request);
  const {
    wait_for_selector: selector,
    wait_for_expression: expression,
    timeout,
    pages,
    css,
    javascript,
    header,
    footer,
  } = request;
  const settings = {
    source: source(request),
    ...headers(request),
    cookies: cookies(request),
    ...(css === undefined ? {} : { css: addition(css) }),
    ...(javascript === undefined ? {} : { javascript: addition(javascript) }),
    lazyImages: request.lazy_load_images ?? false,
    finishAnimations: request.finish_animations ?? false,
    failOnResourceError: request.fail_on_resource_error ?? false,
    media: request.emulate_media ?? DEFAULT_MEDIA,
    waits: {
      ...(selector === undefined ? {} : { selector }),
      ...(expression === undefined ? {} : { expression }),
      networkIdle: request.wait_for_network_idle ?? false,
      delayMs: request.wait_delay === undefined ? 0 : parseWaitDelayMs(request.wait_delay)!,
    },
    ...(timeout === undefined ? {} : { timeoutMs: parseTimeoutMs(timeout)! }),
    paper: { widthIn, heightIn },
    singlePage,
    cssPageSize: usesCssPageSize(request),
    print: {
      scale: request.scale ?? request.zoom ?? DEFAULT_SCALE,
      printBackground: request.print_background ?? DEFAULT_PRINT_BACKGROUND,
      marginIn: marginsOf(request),
      marginsHold: [request.margin, header, footer].some(asked => asked !== undefined),
      ...(pages === undefined ? {} : { pageRanges: pageRangesText(parsePages(pages)!) }),
      ...(header?.html === undefined ? {} : { headerHtml: replacePlaceholders(header.html) }),
      ...(footer?.html === undefined ? {} : { footerHtml: replacePlaceholders(footer.html) }),
    },
    // A body is JSON, in which no member is undefined.
    metadata: { ...request.metadata } as PdfMetadata,
    sandbox: request.sandbox ?? false,
  };
  return { ...settings, isStatic: isStatic(settings), isolation: 'fresh' };
}
