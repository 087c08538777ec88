// Placeholders in the HTML of a header or footer: finds them and replaces them by the elements that
// Chrome fills in. Tokenizes in one pass, because the tree of hostile HTML can be a thousand times
// larger than its source.
import { type Token, Tokenizer } from 'parse5';
import { HtmlNesting } from './html-nesting.ts';
import { quoted } from './problems.ts';
import { imageOfAttribute, imageOfCss } from './template-images.ts';

/**
 * By the name between the braces.
 * https://chromedevtools.github.io/devtools-protocol/tot/Page/#method-printToPDF
 */
const SPANS: Record<string, string> = {
  page: '<span class="pageNumber"></span>',
  total: '<span class="totalPages"></span>',
};
const ALLOWED = 'the placeholders are `{{page}}` and `{{total}}`';
/** Chrome would fill these with the date, the document's title and its URL. */
const REJECTED_CLASSES = ['date', 'title', 'url'];

/** `{{…}}` in a text. A search, because a regular expression would take quadratic time. */
function* braces(text: string): Generator<{ from: number; to: number; inner: string }> {
  for (let from = text.indexOf('{{'); from >= 0; ) {
    const end = text.indexOf('}}', from + 2);
    if (end < 0) return;
    yield { from, to: end + 2, inner: text.slice(from + 2, end) };
    from = text.indexOf('{{', end + 2);
  }
}

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('\u00a0', '&nbsp;');

/** A text with its placeholders as spans; undefined when it has none. */
function withSpans(text: string, reject: (problem: string) => void): string | undefined {
  let html = '';
  let done = 0;
  for (const { from, to, inner } of braces(text)) {
    const name = inner.trim();
    const span = Object.hasOwn(SPANS, name) ? SPANS[name] : undefined;
    if (span === undefined) reject(`must not contain ${quoted(`{{${inner}}}`)}; ${ALLOWED}`);
    html += escaped(text.slice(done, from)) + (span ?? '');
    done = to;
  }
  return done === 0 ? undefined : html + escaped(text.slice(done));
}

/** Reads the tokens of the HTML, checks it and replaces placeholders. */
class Reader {
  readonly html: string;
  problem: string | undefined;
  readonly #nesting: HtmlNesting;
  /** The text since the last tag with decoded entities, and its position in the source. */
  #run = '';
  #runFrom = 0;
  #runTo = 0;
  /** The texts so far, to find a placeholder that is split across elements. */
  #texts: string[] = [];
  #raw: string | undefined;
  #done = 0;
  #out = '';

  constructor(html: string) {
    this.html = html;
    const characters = (token: Token.CharacterToken) => this.#characters(token, token.chars);
    const other = () => this.#endRun();
    const tokenizer = new Tokenizer(
      { sourceCodeLocationInfo: true },
      {
        onCharacter: characters,
        onWhitespaceCharacter: characters,
        // Browsers drop it.
        onNullCharacter: token => this.#characters(token, ''),
        onStartTag: token => this.#startTag(token),
        onEndTag: token => this.#endTag(token),
        onComment: other,
        onDoctype: other,
        onEof: other,
        onParseError: null,
      },
    );
    this.#nesting = new HtmlNesting(tokenizer);
    tokenizer.write(html, true);
    for (const { inner } of braces(this.#texts.join('\0')))
      if (inner.includes('\0'))
        this.#reject(
          `must not split ${quoted(`{{${inner.replaceAll('\0', '…')}}}`)} across elements; ${ALLOWED}`,
        );
  }

  get replaced(): string {
    return this.#out + this.html.slice(this.#done);
  }

  #reject(problem: string): void {
    this.problem ??= problem;
  }

  #characters({ location }: Token.CharacterToken, chars: string): void {
    if (this.#runTo < location!.startOffset || this.#run === '')
      this.#runFrom = location!.startOffset;
    this.#run += chars;
    this.#runTo = location!.endOffset;
  }

  #endRun(): void {
    const run = this.#run;
    this.#run = '';
    if (run === '') return;
    if (this.#raw === 'style') this.#noImage(imageOfCss(run));
    const where = this.#raw ?? (this.#nesting.isForeign ? 'svg' : undefined);
    if (where !== undefined) return this.#onlyInText(run, `inside <${where}>`);
    this.#texts.push(run);
    const html = withSpans(run, problem => this.#reject(problem));
    if (html === undefined) return;
    this.#out += this.html.slice(this.#done, this.#runFrom) + html;
    this.#done = this.#runTo;
  }

  #noImage(address: string | undefined): void {
    if (address !== undefined)
      this.#reject(
        `must not load the image ${quoted(address)}: nothing is loaded here. Embed it as a \`data:\` URL`,
      );
  }

  #onlyInText(text: string, where: string): void {
    for (const { inner } of braces(text))
      this.#reject(`must not contain ${quoted(`{{${inner}}}`)} ${where}; ${ALLOWED}, in text only`);
  }

  #startTag(token: Token.TagToken): void {
    this.#endRun();
    for (const { name, value } of token.attrs) {
      this.#noImage(imageOfAttribute(token.tagName, name, value));
      for (const part of [name, value]) this.#onlyInText(part, `in the attribute ${quoted(name)}`);
      const rejected =
        name === 'class' && value.split(/\s+/).find(word => REJECTED_CLASSES.includes(word));
      if (rejected)
        this.#reject(
          `must not use the class "${rejected}"; only "pageNumber" and "totalPages" are supported`,
        );
    }
    if (this.#nesting.enter(token)) this.#raw = token.tagName;
  }

  #endTag(token: Token.TagToken): void {
    this.#endRun();
    this.#nesting.leave(token);
    this.#raw = undefined;
  }
}

/** The error text that follows the field's name, or undefined for valid HTML. */
export const placeholderProblem = (html: string): string | undefined => new Reader(html).problem;

/** Validated HTML with its placeholders replaced by the elements that Chrome fills in. */
export const replacePlaceholders = (html: string): string => new Reader(html).replaced;
