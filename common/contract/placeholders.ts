// The placeholders in the html of a header or footer: found where they stand, and replaced by the
// elements that Chrome fills in. Read as tokens, in one pass: what HTML's tree rules make of
// hostile nesting can be a thousand times larger than its source.
import { type Token, Tokenizer } from 'parse5';
import { HtmlNesting } from './html-nesting.ts';
import { quoted } from './problems.ts';

/**
 * By what callers write between the braces.
 * https://chromedevtools.github.io/devtools-protocol/tot/Page/#method-printToPDF
 */
const SPANS: Record<string, string> = {
  page: '<span class="pageNumber"></span>',
  total: '<span class="totalPages"></span>',
};
const ALLOWED = 'the placeholders are `{{page}}` and `{{total}}`';
/** Chrome would fill these with the day, the document's title and its address. */
const REFUSED_CLASSES = ['date', 'title', 'url'];

/**
 * `{{…}}` in a text, from brace to brace. Searching instead of matching: a regular expression would
 * take the square of the length.
 */
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
function withSpans(text: string, refuse: (problem: string) => void): string | undefined {
  let html = '';
  let done = 0;
  for (const { from, to, inner } of braces(text)) {
    const name = inner.trim();
    const span = Object.hasOwn(SPANS, name) ? SPANS[name] : undefined;
    if (span === undefined) refuse(`must not contain ${quoted(`{{${inner}}}`)}; ${ALLOWED}`);
    html += escaped(text.slice(done, from)) + (span ?? '');
    done = to;
  }
  return done === 0 ? undefined : html + escaped(text.slice(done));
}

/** What a tokenizer tells, put together to what matters here. */
class Reader {
  readonly html: string;
  problem: string | undefined;
  readonly #nesting: HtmlNesting;
  /** The text since the last tag, entities decoded, and where it stands in the source. */
  #run = '';
  #runFrom = 0;
  #runTo = 0;
  /** The texts so far: a placeholder over several of them shows only in their sum. */
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
        // Browsers leave it out.
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
        this.#refuse(
          `must not spread ${quoted(`{{${inner.replaceAll('\0', '…')}}}`)} over several elements; ${ALLOWED}`,
        );
  }

  get replaced(): string {
    return this.#out + this.html.slice(this.#done);
  }

  #refuse(problem: string): void {
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
    const where = this.#raw ?? (this.#nesting.isForeign ? 'svg' : undefined);
    if (where !== undefined) return this.#onlyInText(run, `inside <${where}>`);
    this.#texts.push(run);
    const html = withSpans(run, problem => this.#refuse(problem));
    if (html === undefined) return;
    this.#out += this.html.slice(this.#done, this.#runFrom) + html;
    this.#done = this.#runTo;
  }

  #onlyInText(text: string, where: string): void {
    for (const { inner } of braces(text))
      this.#refuse(`must not contain ${quoted(`{{${inner}}}`)} ${where}; ${ALLOWED}, in text only`);
  }

  #startTag(token: Token.TagToken): void {
    this.#endRun();
    for (const { name, value } of token.attrs) {
      for (const part of [name, value]) this.#onlyInText(part, `in the attribute ${quoted(name)}`);
      const refused =
        name === 'class' && value.split(/\s+/).find(word => REFUSED_CLASSES.includes(word));
      if (refused)
        this.#refuse(
          `must not have an element of the class "${refused}"; only "pageNumber" and "totalPages" are filled in`,
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

/**
 * What is wrong with the placeholders and classes of a header's html, as the words that follow the
 * field's name; undefined when nothing is.
 */
export const placeholderProblem = (html: string): string | undefined => new Reader(html).problem;

/**
 * The html with the elements that Chrome fills in where placeholders stood, else as it was written.
 * Only for html that placeholderProblem let pass.
 */
export const replacePlaceholders = (html: string): string => new Reader(html).replaced;
