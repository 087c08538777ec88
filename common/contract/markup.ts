// HTML from tagged template literals that escape all inserted values.

/** Safe HTML. Created by `markup`. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = Markup | string | number | undefined | readonly Part[];

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escaped = (text: string) => text.replace(/[&<>"']/g, character => ENTITIES[character]!);

function textOf(part: Part): string {
  if (part === undefined) return '';
  if (part instanceof Markup) return part.text;
  return typeof part === 'object' ? part.map(textOf).join('') : escaped(String(part));
}

/** Escapes strings and numbers, inserts Markup unchanged, joins arrays and skips undefined. */
export const markup = (texts: TemplateStringsArray, ...parts: Part[]): Markup =>
  new Markup(texts.reduce((all, text, index) => all + textOf(parts[index - 1]) + text));

/** A sentence in which `backticks` mark code. */
export const prose = (sentence: string): Markup =>
  markup`${sentence.split('`').map((text, index) => (index % 2 === 0 ? text : markup`<code>${text}</code>`))}`;
