// Header and footer of a print: the caller's html in a box that is the page's margin, as Chrome's
// templates take it.
import { type Token, Tokenizer } from 'parse5';
import { HtmlNesting } from '../../common/contract/html-nesting.ts';
import type { RenderSettings } from './render-settings.ts';

/**
 * Escapes of letters and hyphens, which could hide a name: hexadecimal digits with an optional
 * space after them, or the letter itself.
 */
const ESCAPE = /\\(?:0{0,4}([46][1-9a-f]|[57][0-9a]|2d)(?![0-9a-f])\s?|([g-z])|[\s\S])/gi;
const URL_TOKEN = /\burl\(\s*("(?:\\[\s\S]|[^"\\])*"|'(?:\\[\s\S]|[^'\\])*'|[^"'()\s]*)/gi;
const FONT_FACE = /@font-face[^{@]*\{[^}@]*/gi;
const NOTHING = 'url(data:,';

const isData = (address: string) => /^["']?\s*data:/i.test(address);
const isInside = (address: string) => /^["']?\s*#/.test(address);

/**
 * Pure. URLs other than `data:` become empty. `#name`, a reference within the template, stays
 * except in `@font-face`.
 */
export function withoutLoads(css: string): string {
  return css
    .replace(ESCAPE, (whole, hex?: string, letter?: string) =>
      hex ? String.fromCharCode(Number.parseInt(hex, 16)) : (letter ?? whole),
    )
    .replace(/@import\b/gi, '@no-import')
    .replace(FONT_FACE, face =>
      face.replace(URL_TOKEN, (url, address: string) => (isData(address) ? url : NOTHING)),
    )
    .replace(URL_TOKEN, (url, address: string) =>
      isData(address) || isInside(address) ? url : NOTHING,
    );
}

/**
 * They have no effect in a template, except style sheets: a `link` to one crashes Chromium 156.
 */
const LEFT_OUT = new Set([
  'script',
  'noscript',
  'link',
  'meta',
  'base',
  'iframe',
  'frame',
  'object',
  'embed',
]);

/** In place of an element. With nothing there, a `<` before it would begin a tag. */
const NO_ELEMENT = '<!---->';

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');

/** Rebuilds the source with parts of it replaced. */
class Rewriter {
  #out = '';
  #done = 0;
  readonly #source: string;
  readonly #nesting: HtmlNesting;
  /** The start of the open `style` element's content, and its text so far. */
  #style: { from: number; text: string } | undefined;
  /** The start of an omitted element whose content is text. */
  #leftOutFrom: number | undefined;

  constructor(source: string) {
    this.#source = source;
    const characters = ({ chars }: Token.CharacterToken) => {
      if (this.#style) this.#style.text += chars;
    };
    const nothing = () => {};
    const tokenizer = new Tokenizer(
      { sourceCodeLocationInfo: true },
      {
        onCharacter: characters,
        onWhitespaceCharacter: characters,
        onNullCharacter: nothing,
        onStartTag: token => this.#startTag(token),
        onEndTag: token => this.#endTag(token),
        onComment: nothing,
        onDoctype: nothing,
        onEof: () => this.#closeRaw(source.length, source.length),
        onParseError: null,
      },
    );
    this.#nesting = new HtmlNesting(tokenizer);
    tokenizer.write(source, true);
  }

  get html(): string {
    return this.#out + this.#source.slice(this.#done);
  }

  #replace(from: number, to: number, by: string): void {
    this.#out += this.#source.slice(this.#done, from) + by;
    this.#done = to;
  }

  #startTag(token: Token.TagToken): void {
    const { tagName, location } = token;
    const { startOffset, endOffset } = location!;
    const wasForeign = this.#nesting.isForeign;
    const isRaw = this.#nesting.enter(token);
    if (this.#style) return;
    if (LEFT_OUT.has(tagName)) {
      if (isRaw) this.#leftOutFrom = startOffset;
      else this.#replace(startOffset, endOffset, NO_ELEMENT);
      return;
    }
    this.#attributes(token, wasForeign || this.#nesting.isForeign);
    if (tagName === 'style') this.#style = { from: endOffset, text: '' };
  }

  /** Any attribute of SVG may be a style. */
  #attributes({ tagName, attrs, selfClosing, location }: Token.TagToken, isForeign: boolean): void {
    const clean = attrs.map(({ name, value }) => ({
      name,
      value: name === 'style' || isForeign ? withoutLoads(value) : value,
    }));
    if (clean.every(({ value }, i) => value === attrs[i]!.value)) return;
    const written = clean.map(({ name, value }) => ` ${name}="${escaped(value)}"`).join('');
    this.#replace(
      location!.startOffset,
      location!.endOffset,
      `<${tagName}${written}${selfClosing ? '/' : ''}>`,
    );
  }

  #endTag(token: Token.TagToken): void {
    const { tagName, location } = token;
    const { startOffset, endOffset } = location!;
    // It closes a style inside it too.
    if (this.#nesting.endsForeign(token)) this.#closeRaw(startOffset, startOffset);
    this.#nesting.leave(token);
    if (this.#style && tagName !== 'style') return;
    if (this.#style || this.#leftOutFrom !== undefined) this.#closeRaw(startOffset, endOffset);
    else if (LEFT_OUT.has(tagName)) this.#replace(startOffset, endOffset, NO_ELEMENT);
  }

  /**
   * Closes what is open: a style's text is rewritten if it changed, an omitted element is removed.
   */
  #closeRaw(from: number, to: number): void {
    if (this.#style) {
      const clean = withoutLoads(this.#style.text);
      if (clean !== this.#style.text)
        this.#replace(this.#style.from, from, this.#nesting.isForeign ? escaped(clean) : clean);
    }
    if (this.#leftOutFrom !== undefined) this.#replace(this.#leftOutFrom, to, NO_ELEMENT);
    this.#style = undefined;
    this.#leftOutFrom = undefined;
  }
}

/**
 * Pure; linear in the length. Elements that are open at the end stay open: append nothing to it.
 */
export const templateHtml = (html: string): string => new Rewriter(html).html;

/** Chrome's default font of a page. Templates would have the system's, which is a sans-serif. */
const PAGE_FONT = "'Times New Roman',serif";

/**
 * Resets Chrome's own boxes around both: a caller's style for every `div` would give them a size
 * and a background over the content.
 */
const FRAME =
  '<style>html,body,body>div{all:initial!important}body>div{display:contents!important}</style>';

/**
 * Clips what is taller than the margin, since Chrome would paint it over the content, and centers
 * what is not. Sets font size and backgrounds, which templates lack by default. The element has a
 * private name and no end tag, so that the caller's HTML cannot close it.
 */
function template(
  html: string,
  edge: 'top' | 'bottom',
  { marginIn, printBackground }: RenderSettings['print'],
): string {
  const style = [
    `display:block;position:absolute;${edge}:0;left:0;width:100%;height:${marginIn[edge]}in;box-sizing:border-box`,
    `padding:0 ${marginIn.right}in 0 ${marginIn.left}in;overflow:hidden;contain:paint;align-content:safe center`,
    `font:10px ${PAGE_FONT};color:#000;text-align:start;-webkit-print-color-adjust:${printBackground ? 'exact' : 'economy'}`,
  ];
  return `${FRAME}<page-margin style="${style.join(';')}">${templateHtml(html)}`;
}

export const hasTemplates = ({ print }: RenderSettings): boolean =>
  print.headerHtml !== undefined || print.footerHtml !== undefined;

/**
 * The parameters of Page.printToPDF for a header, a footer or both. The other one is empty, since
 * Chrome has default texts.
 */
export const headerFooter = ({ print }: RenderSettings) => ({
  displayHeaderFooter: true,
  headerTemplate: template(print.headerHtml ?? '', 'top', print),
  footerTemplate: template(print.footerHtml ?? '', 'bottom', print),
});
