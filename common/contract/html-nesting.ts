// Tracks whether an HTML tokenizer is inside SVG, MathML or an element with raw text. Replaces the
// tree construction that would normally set the tokenizer's state.
import { type Token, type Tokenizer, TokenizerMode } from 'parse5';

/**
 * Elements whose content is raw text, by name.
 * https://html.spec.whatwg.org/multipage/parsing.html#parsing-main-inbody
 */
const RAW_TEXT: Record<string, Tokenizer['state']> = {
  script: TokenizerMode.SCRIPT_DATA,
  plaintext: TokenizerMode.PLAINTEXT,
  ...Object.fromEntries(['textarea', 'title'].map(name => [name, TokenizerMode.RCDATA])),
  ...Object.fromEntries(
    ['style', 'xmp', 'iframe', 'noembed', 'noframes', 'noscript'].map(name => [
      name,
      TokenizerMode.RAWTEXT,
    ]),
  ),
};

const FOREIGN: ReadonlySet<string> = new Set(['svg', 'math']);

/** Must receive every tag, so that the tokenizer continues as in a browser. */
export class HtmlNesting {
  readonly #tokenizer: Tokenizer;
  #foreignDepth = 0;

  constructor(tokenizer: Tokenizer) {
    this.#tokenizer = tokenizer;
  }

  get isForeign(): boolean {
    return this.#foreignDepth > 0;
  }

  /** Returns whether the content of the element is raw text. */
  enter({ tagName, selfClosing }: Token.TagToken): boolean {
    const isRaw = !this.isForeign && Object.hasOwn(RAW_TEXT, tagName);
    if (FOREIGN.has(tagName) && !selfClosing) this.#foreignDepth++;
    else if (isRaw) this.#tokenizer.state = RAW_TEXT[tagName]!;
    this.#tokenizer.inForeignNode = this.isForeign;
    return isRaw;
  }

  /** Whether this end tag closes an open SVG or MathML element. */
  endsForeign({ tagName }: Token.TagToken): boolean {
    return this.isForeign && FOREIGN.has(tagName);
  }

  leave(token: Token.TagToken): void {
    if (this.endsForeign(token)) this.#foreignDepth--;
    this.#tokenizer.inForeignNode = this.isForeign;
  }
}
