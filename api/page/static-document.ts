// Decides whether a document is static: it runs no code, loads nothing, and needs no time. Owns the
// lists of what such a document may contain. When in doubt, a document is dynamic.
import { type Token, Tokenizer } from 'parse5';
import { HtmlNesting } from '../../common/contract/html-nesting.ts';

/**
 * Why a document is not static. `malformed`: browsers may disagree about its structure. `element`,
 * `attribute`, `css`: not on the lists. `url`: one that is loaded, or leads nowhere known.
 */
export const DYNAMIC_REASONS = [
  'size',
  'malformed',
  'script',
  'element',
  'attribute',
  'url',
  'css',
] as const;
export type DynamicReason = (typeof DYNAMIC_REASONS)[number];

/** Scanning more would cost more than a warm page saves. */
const MAX_CHARS = 128 * 1024;

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Without any whose content depends on scripts, on other elements, or on time. */
const ELEMENTS = words(`
  html head body title style meta svg
  a abbr address article aside b bdi bdo big blockquote br caption center cite code col colgroup data
  dd del details dfn div dl dt em figcaption figure font footer h1 h2 h3 h4 h5 h6 header hgroup hr i
  img ins kbd li main mark menu nav nobr ol p pre q rp rt ruby s samp section small span strike strong
  sub summary sup table tbody td tfoot th thead time tr tt u ul var wbr
`);

/** Lower-case, as the tokenizer returns them. None is an integration point for HTML. */
const SVG_ELEMENTS = words(`
  svg circle clippath defs ellipse g line lineargradient path pattern polygon polyline radialgradient
  rect stop text tspan
`);

const ATTRIBUTES = words(`
  abbr align alt axis bgcolor border cellpadding cellspacing char charoff charset class clear color
  cols colspan compact content datetime dir face frame headers height hidden hspace id lang leftmargin
  link alink vlink marginheight marginwidth media name noshade nowrap open rel reversed role rows
  rowspan rules scope size span start style summary tabindex target text title topmargin translate
  type valign value version vspace width xmlns
`);

const SVG_ATTRIBUTES = words(`
  alignment-baseline baseline-shift class clip-path clip-rule clippathunits color cx cy d
  dominant-baseline dx dy fill fill-opacity fill-rule font-family font-size font-style font-weight fr
  fx fy gradienttransform gradientunits height id letter-spacing offset opacity paint-order
  patterncontentunits patterntransform patternunits points preserveaspectratio r role rotate rx ry
  shape-rendering spreadmethod stop-color stop-opacity stroke stroke-dasharray stroke-dashoffset
  stroke-linecap stroke-linejoin stroke-miterlimit stroke-opacity stroke-width style text-anchor
  text-decoration text-rendering textlength transform version viewbox width word-spacing x x1 x2 xmlns
  xmlns:xlink y y1 y2
`);

/** Without effect on a document that is given as text. */
const HTTP_EQUIV = words('content-type x-ua-compatible');

/** A link loads nothing. */
const LINK = /^(?:#|https?:\/\/|mailto:|tel:)/i;
const DATA_IMAGE = /^data:image\/(?:png|jpeg|jpg|gif|webp|bmp|svg\+xml)[;,]/i;

/** Errors of the tokenizer after which all browsers continue in the same way. */
const HARMLESS_ERRORS = words(`
  absence-of-digits-in-numeric-character-reference control-character-reference
  invalid-first-character-of-tag-name missing-semicolon-after-character-reference
  non-void-html-element-start-tag-with-trailing-solidus unknown-named-character-reference
`);

/**
 * Loads, other names for them, and what changes with time or depends on scripts. A backslash could
 * hide any of these.
 */
const CSS_DYNAMIC =
  /[\\\0]|@import|@namespace|@document|@view-transition|@keyframes|image-set|cross-fade|animation|transition|timeline|content-visibility|scripting|expression|behavior|binding|:visited|(?<![\w-])(?:src|image|element|paint)\(/i;
/** Finds each, also one within the beginning of another, such as after a comment. */
const CSS_URL = /url\(\s*["']?(?=([^)]{0,40}))/gi;
const CSS_INSIDE =
  /^(?:#|data:(?:image\/(?:png|jpeg|jpg|gif|webp|bmp|svg\+xml)|font\/[\w-]+|application\/(?:x-)?font-[\w-]+)[;,])/i;

const isStaticCss = (css: string): boolean =>
  !CSS_DYNAMIC.test(css) && css.matchAll(CSS_URL).every(([, url]) => CSS_INSIDE.test(url!));

function attributeReason(
  tagName: string,
  { name, value }: Token.Attribute,
): DynamicReason | undefined {
  if (name.startsWith('on')) return 'script';
  if (name === 'href' && tagName === 'a') return LINK.test(value) ? undefined : 'url';
  if (name === 'src' && tagName === 'img') return DATA_IMAGE.test(value) ? undefined : 'url';
  if (name === 'style' || name === 'media') return isStaticCss(value) ? undefined : 'css';
  if (name === 'http-equiv' && tagName === 'meta')
    return HTTP_EQUIV.has(value.toLowerCase()) ? undefined : 'element';
  if (ATTRIBUTES.has(name) || /^(?:aria|data)-[\w.:-]*$/.test(name)) return undefined;
  return 'attribute';
}

/** Any attribute of SVG may be a style. */
function svgAttributeReason({ name, value }: Token.Attribute): DynamicReason | undefined {
  if (name.startsWith('on')) return 'script';
  if ((name === 'href' || name === 'xlink:href') && value.startsWith('#')) return undefined;
  if (!SVG_ATTRIBUTES.has(name) && !/^(?:aria|data)-[\w.:-]*$/.test(name)) return 'attribute';
  return isStaticCss(value) ? undefined : 'css';
}

/** Reads the tags of one document until the first that is not static. */
class Judge {
  reason: DynamicReason | undefined;
  readonly #nesting: HtmlNesting;
  /** The text of the open `style` element. */
  #style: string | undefined;

  constructor(html: string) {
    const characters = ({ chars }: Token.CharacterToken) => {
      if (this.#style !== undefined) this.#style += chars;
    };
    const nothing = () => {};
    const tokenizer = new Tokenizer(
      { sourceCodeLocationInfo: false },
      {
        onCharacter: characters,
        onWhitespaceCharacter: characters,
        onNullCharacter: () => this.#found('malformed'),
        onStartTag: token => this.#startTag(token),
        onEndTag: token => this.#endTag(token),
        onComment: nothing,
        onDoctype: nothing,
        onEof: () => this.#closeStyle(),
        onParseError: ({ code }) => {
          if (!HARMLESS_ERRORS.has(code)) this.#found('malformed');
        },
      },
    );
    this.#nesting = new HtmlNesting(tokenizer);
    tokenizer.write(html, true);
  }

  #found(reason: DynamicReason | undefined): void {
    this.reason ??= reason;
  }

  #startTag(token: Token.TagToken): void {
    const { tagName, attrs } = token;
    const wasForeign = this.#nesting.isForeign;
    this.#nesting.enter(token);
    if (this.reason !== undefined) return;
    if (tagName === 'script') return this.#found('script');
    if (!(wasForeign ? SVG_ELEMENTS : ELEMENTS).has(tagName)) return this.#found('element');
    const isForeign = wasForeign || tagName === 'svg';
    for (const attribute of attrs)
      this.#found(isForeign ? svgAttributeReason(attribute) : attributeReason(tagName, attribute));
    if (tagName === 'style') this.#style = '';
  }

  /** An end tag of HTML within SVG may end the SVG. */
  #endTag(token: Token.TagToken): void {
    if (this.#nesting.isForeign && !SVG_ELEMENTS.has(token.tagName)) this.#found('element');
    this.#nesting.leave(token);
    this.#closeStyle();
  }

  #closeStyle(): void {
    if (this.#style !== undefined && !isStaticCss(this.#style)) this.#found('css');
    this.#style = undefined;
  }
}

/** Pure; linear in the length. Undefined for a static document. */
export function dynamicReason(html: string): DynamicReason | undefined {
  if (html.length > MAX_CHARS) return 'size';
  // Text or a comment, depending on the elements around it.
  if (/<!\[CDATA\[/i.test(html)) return 'malformed';
  return new Judge(html).reason;
}
