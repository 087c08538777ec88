// The html of a header or footer without what could run or load. Read as tokens, in one pass: a tree of hostile nesting can be a thousand times larger than its source.
import { type Token, Tokenizer } from 'parse5';
import { HtmlNesting } from '../contract/html-nesting.ts';
import { withoutLoads } from './template-css.ts';

/** In a template they do nothing, but for style sheets: Chromium 156 crashes over a `link` to one. */
const LEFT_OUT = new Set(['script', 'noscript', 'link', 'meta', 'base', 'iframe', 'frame', 'object', 'embed']);

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');

/** Collects the source again, with pieces of it replaced. */
class Rewriter {
  #out = '';
  #done = 0;
  readonly #source: string;
  readonly #nesting: HtmlNesting;
  /** Where the content began of the `style` that is open, and its text so far. */
  #style: { from: number; text: string } | undefined;
  /** Where a left out element began whose content is text. */
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
      else this.#replace(startOffset, endOffset, '');
      return;
    }
    this.#attributes(token, wasForeign || this.#nesting.isForeign);
    if (tagName === 'style') this.#style = { from: endOffset, text: '' };
  }

  /** Any attribute of SVG may be a style. */
  #attributes({ tagName, attrs, selfClosing, location }: Token.TagToken, isForeign: boolean): void {
    const clean = attrs.map(({ name, value }) => ({ name, value: name === 'style' || isForeign ? withoutLoads(value) : value }));
    if (clean.every(({ value }, i) => value === attrs[i]!.value)) return;
    const written = clean.map(({ name, value }) => ` ${name}="${escaped(value)}"`).join('');
    this.#replace(location!.startOffset, location!.endOffset, `<${tagName}${written}${selfClosing ? '/' : ''}>`);
  }

  #endTag(token: Token.TagToken): void {
    const { tagName, location } = token;
    const { startOffset, endOffset } = location!;
    if (this.#nesting.endsForeign(token)) this.#closeRaw(startOffset, startOffset); // it closes a style inside of it too
    this.#nesting.leave(token);
    if (this.#style && tagName !== 'style') return;
    if (this.#style || this.#leftOutFrom !== undefined) this.#closeRaw(startOffset, endOffset);
    else if (LEFT_OUT.has(tagName)) this.#replace(startOffset, endOffset, '');
  }

  /** Of what is open: a style's text is written anew when it had to be changed, a left out element goes as a whole. */
  #closeRaw(from: number, to: number): void {
    if (this.#style) {
      const clean = withoutLoads(this.#style.text);
      if (clean !== this.#style.text) this.#replace(this.#style.from, from, this.#nesting.isForeign ? escaped(clean) : clean);
    }
    if (this.#leftOutFrom !== undefined) this.#replace(this.#leftOutFrom, to, '');
    this.#style = undefined;
    this.#leftOutFrom = undefined;
  }
}

/** Pure; linear in the html's length. Nothing is closed that was left open: put nothing behind it. */
export const templateHtml = (html: string): string => new Rewriter(html).html;
