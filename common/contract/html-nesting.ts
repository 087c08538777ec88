// Where a tokenizer stands in HTML: inside SVG or MathML, or in an element whose content is text.
// What HTML's tree rules would tell it, as far as it needs them.
import { type Token, type Tokenizer, TokenizerMode } from 'parse5';

/**
 * By name: elements whose content is text whatever it looks like.
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

/** To be told of every tag, so that the tokenizer reads on as a browser does. */
export class HtmlNesting {
  readonly #tokenizer: Tokenizer;
  #foreignDepth = 0;

  constructor(tokenizer: Tokenizer) {
    this.#tokenizer = tokenizer;
  }

  get isForeign(): boolean {
    return this.#foreignDepth > 0;
  }

  /** Gives whether the content of the element is text. */
  enter({ tagName, selfClosing }: Token.TagToken): boolean {
    const isRaw = !this.isForeign && Object.hasOwn(RAW_TEXT, tagName);
    if (FOREIGN.has(tagName) && !selfClosing) this.#foreignDepth++;
    else if (isRaw) this.#tokenizer.state = RAW_TEXT[tagName]!;
    this.#tokenizer.inForeignNode = this.isForeign;
    return isRaw;
  }

  /** Whether this end tag ends an SVG or MathML that is open. */
  endsForeign({ tagName }: Token.TagToken): boolean {
    return this.isForeign && FOREIGN.has(tagName);
  }

  leave(token: Token.TagToken): void {
    if (this.endsForeign(token)) this.#foreignDepth--;
    this.#tokenizer.inForeignNode = this.isForeign;
  }
}
