// The fields `css` and `javascript`: a style or a script to add to the page, either itself or the
// address of it.
import { lengthProblem, MAX_COMMAND_LENGTH, text } from './field.ts';
import { MAX_URL_BYTES, URL_PATTERN, urlProblem } from './page-url.ts';

/**
 * In JSON's notation, where control characters take six bytes: what a worker takes in one command,
 * with room for the command around it.
 */
const MAX_JSON_BYTES = 3 * MAX_COMMAND_LENGTH;

const ADDRESS = new RegExp(`${URL_PATTERN}\\S*$`);

/**
 * The address, when the whole text is one (http or https, nothing but white space around it);
 * undefined when the text is the style or script itself.
 */
export function additionUrl(text: string): string | undefined {
  const trimmed = text.trim();
  return ADDRESS.test(trimmed) ? trimmed : undefined;
}

const problem = (what: string) => (value: string) => {
  const tooLong = lengthProblem(value, MAX_COMMAND_LENGTH);
  if (tooLong) return `${tooLong}; put it at a public address and give that`;
  if (value.trim() === '') return `must be ${what}, not blank`;
  const url = additionUrl(value);
  if (url !== undefined) return urlProblem(url);
  const bytes = Buffer.byteLength(JSON.stringify(value));
  return bytes > MAX_JSON_BYTES
    ? `must be at most ${MAX_JSON_BYTES} bytes in JSON's notation, not ${bytes}; put it at a public address and give that`
    : undefined;
};

const BOUNDS = `Not blank; at most ${MAX_COMMAND_LENGTH} characters and ${MAX_JSON_BYTES} bytes in JSON's notation (in UTF-8, with its escapes). A text that is nothing but an http or https address is loaded from there by the page and must be answered with 2xx; it is at most ${MAX_URL_BYTES} bytes long, under the same rules as \`url\`, and must not lead to a private address.`;

const shown = (description: string, examples: string[]) => ({
  description: `${description} ${BOUNDS}`,
  examples,
  // A blank text has only what ECMAScript takes for white space.
  pattern: '\\S',
  minLength: 1,
  maxLength: MAX_COMMAND_LENGTH,
});

export const additionsShape = {
  css: text(
    'a style sheet, or the address of one, in a string',
    problem('a style sheet, or the address of one'),
    shown(
      'A style sheet to add to the page, also when its own Content-Security-Policy forbids it.',
      ['h1 { color: crimson }', 'https://example.com/print.css'],
    ),
  ),
  javascript: text(
    'a script, or the address of one, in a string',
    problem('a script, or the address of one'),
    shown(
      "A script to run in the page once it and `css` are loaded, before all other waits, also when the page's own Content-Security-Policy forbids it. A promise that it gives is awaited; a script that throws or rejects is a `validation_error` with its message.",
      ["document.querySelector('nav')?.remove()", 'https://example.com/print.js'],
    ),
  ),
};
