// The fields `css` and `javascript`: a stylesheet or script to inject into the page, inline or by
// URL.
import { lengthProblem, MAX_COMMAND_LENGTH, text } from './field.ts';
import { MAX_URL_BYTES, URL_PATTERN, urlProblem } from './page-url.ts';

/**
 * Limit of the text as a JSON string, where control characters take six bytes: a worker's limit per
 * command, minus space for the rest of the command.
 */
const MAX_JSON_BYTES = 3 * MAX_COMMAND_LENGTH;

const ADDRESS = new RegExp(`${URL_PATTERN}\\S*$`);

/** The URL, when the text is only an http or https URL; undefined for an inline text. */
export function additionUrl(text: string): string | undefined {
  const trimmed = text.trim();
  return ADDRESS.test(trimmed) ? trimmed : undefined;
}

const problem = (what: string) => (value: string) => {
  const tooLong = lengthProblem(value, MAX_COMMAND_LENGTH);
  if (tooLong) return `${tooLong}; host it at a public URL and send that instead`;
  if (value.trim() === '') return `must be ${what}, not blank`;
  const url = additionUrl(value);
  if (url !== undefined) return urlProblem(url);
  const bytes = Buffer.byteLength(JSON.stringify(value));
  return bytes > MAX_JSON_BYTES
    ? `must be at most ${MAX_JSON_BYTES} bytes as a JSON string, not ${bytes}; host it at a public URL and send that instead`
    : undefined;
};

const BOUNDS = `Inline: not blank, at most ${MAX_COMMAND_LENGTH} characters and ${MAX_JSON_BYTES} bytes as a JSON string. By URL: an http or https URL of at most ${MAX_URL_BYTES} bytes that the page loads. It follows the same rules as \`url\`, must not point to a private address, and must return a 2xx status.`;

const shown = (description: string, examples: string[]) => ({
  description: `${description} ${BOUNDS}`,
  examples,
  // Not blank: at least one character that is not white space in ECMAScript.
  pattern: '\\S',
  minLength: 1,
  maxLength: MAX_COMMAND_LENGTH,
});

export const additionsShape = {
  css: text(
    'a string with a stylesheet or a stylesheet URL',
    problem('a stylesheet or a stylesheet URL'),
    shown(
      "A stylesheet to add to the page, inline or by URL. The page's Content-Security-Policy does not apply to it.",
      ['h1 { color: crimson }', 'https://example.com/print.css'],
    ),
  ),
  javascript: text(
    'a string with a script or a script URL',
    problem('a script or a script URL'),
    shown(
      "A script to run after the page and `css` have loaded and before the `wait_*` conditions, inline or by URL. The page's Content-Security-Policy does not apply to it. Inline scripts may use `await`, and a promise that is the script's value is awaited. If it throws or rejects, the request fails with `validation_error` and the error's message.",
      ["document.querySelector('nav')?.remove()", 'https://example.com/print.js'],
    ),
  ),
};
