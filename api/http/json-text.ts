// The body's bytes as a JSON value, at once or in turns of the event loop, with errors that say
// what is wrong.
import { setImmediate as othersTurn } from 'node:timers/promises';
import { invalid } from '../../common/contract/errors.ts';

/**
 * No request comes near these; a body made of brackets or names alone would hold the event loop for
 * seconds.
 */
const MAX_DEPTH = 32;
const MAX_MEMBERS = 10_000;

/**
 * What is too much in a body: how deep it nests, or how many members and elements it has. Looks at
 * no string's inside.
 */
function tooMuch(bytes: Buffer): string | undefined {
  let depth = 0;
  let members = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === 0x22) {
      for (at++; at < bytes.length && bytes[at] !== 0x22; at++) if (bytes[at] === 0x5c) at++;
    } else if (byte === 0x5b || byte === 0x7b) {
      if (++depth > MAX_DEPTH) return `nests deeper than ${MAX_DEPTH} levels`;
    } else if (byte === 0x5d || byte === 0x7d) depth--;
    else if (byte === 0x2c && ++members > MAX_MEMBERS)
      return `has more than ${MAX_MEMBERS} members`;
  }
  return undefined;
}

/**
 * Node's message for a syntax error. Messages with a position do not quote the text. The others do,
 * so only their token is kept: no other part of a body may reach a response or a log.
 */
export function mistakeIn(message: string): string {
  const [, what, line, column] =
    /^([^"]+?)(?: in JSON)? at position \d+ \(line (\d+) column (\d+)\)$/.exec(message) ?? [];
  if (what !== undefined) return `${what} at line ${line}, column ${column}`;
  return (
    /^(Unexpected token '[!-~]'|Unexpected end of JSON input)/.exec(message)?.[0] ??
    'Unexpected token'
  );
}

/** From bytes to value in steps: each of them looks at all bytes. */
function* parsing(bytes: Buffer): Generator<void, unknown> {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw invalid('The request body is not valid UTF-8.', cause);
  }
  yield;
  const excess = tooMuch(bytes);
  if (excess) throw invalid(`The request body ${excess}.`);
  yield;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalid(`The request body is not valid JSON: ${mistakeIn((error as Error).message)}.`);
  }
}

/**
 * Throws validation_error for bytes that are not UTF-8, text that is not JSON, and JSON that is too
 * deep or has too many members.
 */
export function parseJson(bytes: Buffer): unknown {
  for (const steps = parsing(bytes); ; ) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** As `parseJson`; whoever else waits for the event loop has a turn after each step. */
export async function parseJsonInTurns(bytes: Buffer): Promise<unknown> {
  for (const steps = parsing(bytes); ; await othersTurn()) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}
