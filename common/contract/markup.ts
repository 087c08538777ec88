// HTML by template literals that escape whatever is put into them, so that forgetting it is not
// possible.

/** HTML that is right as it is. Only `markup` makes it. */
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

/**
 * A tagged template: texts and numbers are escaped, Markup goes in as it is, arrays are put in one
 * after the other, undefined is nothing.
 */
export const markup = (texts: TemplateStringsArray, ...parts: Part[]): Markup =>
  new Markup(texts.reduce((all, text, index) => all + textOf(parts[index - 1]) + text));

/** A sentence in which `backticks` stand for code. */
export const prose = (sentence: string): Markup =>
  markup`${sentence.split('`').map((text, index) => (index % 2 === 0 ? text : markup`<code>${text}</code>`))}`;
