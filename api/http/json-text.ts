// The body's bytes as a JSON value, at once or in turns of the event loop, with errors that say where the text goes wrong.
import { setImmediate as othersTurn } from 'node:timers/promises';
import { invalid } from '../contract/errors.ts';

const SPACE = /[ \t\n\r]*/y;
/** All but strings: those can be as long as a body, and a regular expression would need a stack as deep. */
const TOKEN = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null|[[\]{},:]/y;
/** By character code, 1 for what may stand after a backslash: a body can be made of escapes. */
const SHORT_ESCAPES = Uint8Array.from({ length: 128 }, (_, code) => Number('"\\/bfnrt'.includes(String.fromCharCode(code))));
const LETTER_U = 0x75;
const HEX4 = /^[0-9a-fA-F]{4}$/;

type Wanted = 'value' | 'value or ]' | 'name' | 'name or }' | ':' | ', or }' | ', or ]' | 'end' | 'character' | 'escape';
interface Mistake {
  offset: number;
  wanted: Wanted;
}

/** The offset behind the string that begins at `start`, or what is wrong in it. */
function endOfString(text: string, start: number): number | Mistake {
  for (let offset = start + 1; offset < text.length; ) {
    const character = text.charCodeAt(offset);
    if (character === 0x22) return offset + 1;
    if (character < 0x20) return { offset, wanted: 'character' };
    if (character !== 0x5c) offset += 1;
    else if (SHORT_ESCAPES[text.charCodeAt(offset + 1)] === 1) offset += 2;
    else if (text.charCodeAt(offset + 1) === LETTER_U && HEX4.test(text.slice(offset + 2, offset + 6))) offset += 6;
    else return { offset, wanted: 'escape' };
  }
  return { offset: text.length, wanted: 'character' };
}

/**
 * Where the first token stands that JSON (RFC 8259) does not allow, and what would be right there; undefined for good JSON. Only asked when
 * JSON.parse refused, whose own message gives no position for most mistakes and quotes the text instead.
 */
export function findJsonMistake(text: string): Mistake | undefined {
  const open: ('{' | '[')[] = [];
  let wanted: Wanted = 'value';
  for (let offset = 0; ; ) {
    SPACE.lastIndex = offset;
    SPACE.test(text);
    offset = SPACE.lastIndex;
    if (offset === text.length) return wanted === 'end' ? undefined : { offset, wanted };
    TOKEN.lastIndex = offset;
    const isString = text[offset] === '"';
    const token: string | undefined = isString ? '"' : TOKEN.exec(text)?.[0];
    const next: Wanted | undefined = token === undefined ? undefined : after(token, wanted, open);
    if (next === undefined) return { offset, wanted };
    wanted = next;
    const end: number | Mistake = isString ? endOfString(text, offset) : TOKEN.lastIndex;
    if (typeof end !== 'number') return end;
    offset = end;
  }
}

/** What is wanted after `token`, or undefined when the token is not what is wanted now. Keeps `open`. */
function after(token: string, wanted: Wanted, open: ('{' | '[')[]): Wanted | undefined {
  const closed = (): Wanted => (open.length === 0 ? 'end' : open.at(-1) === '{' ? ', or }' : ', or ]');
  const isValue = wanted === 'value' || wanted === 'value or ]';
  if (token === '{' || token === '[') {
    if (!isValue) return undefined;
    open.push(token);
    return token === '{' ? 'name or }' : 'value or ]';
  }
  if (token === '}' || token === ']') {
    if (!wanted.endsWith(`or ${token}`)) return undefined;
    open.pop();
    return closed();
  }
  if (token === ',') return wanted === ', or }' ? 'name' : wanted === ', or ]' ? 'value' : undefined;
  if (token === ':') return wanted === ':' ? 'value' : undefined;
  if (isValue) return closed();
  return token === '"' && (wanted === 'name' || wanted === 'name or }') ? ':' : undefined;
}

const EXPLAINED: Record<Wanted, string> = {
  value: 'a value',
  'value or ]': 'a value or `]`',
  name: 'a name in double quotes',
  'name or }': 'a name in double quotes or `}`',
  ':': '`:`',
  ', or }': '`,` or `}`',
  ', or ]': '`,` or `]`',
  end: 'nothing more',
  character: 'a closing quote, or a character that needs no escape (write a new line as `\\n`),',
  escape: 'one of the escapes that JSON knows',
};

/** No request comes near these; a body made of brackets or names alone would hold the event loop for seconds. */
const MAX_DEPTH = 32;
const MAX_MEMBERS = 10_000;

/** What is too much in a body: how deep it nests, or how many members and elements it has. Looks at no string's inside. */
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
    else if (byte === 0x2c && ++members > MAX_MEMBERS) return `has more than ${MAX_MEMBERS} members`;
  }
  return undefined;
}

/** Both count from one. Splitting the text would make millions of strings of it. */
function lineAndColumn(text: string, offset: number): { line: number; column: number } {
  let line = 1;
  let lineAt = 0;
  for (let at = 0; at < offset; at++) {
    if (text.charCodeAt(at) !== 0x0a) continue;
    line += 1;
    lineAt = at + 1;
  }
  return { line, column: offset - lineAt + 1 };
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
  } catch {
    yield;
    const mistake = findJsonMistake(text) ?? { offset: text.length, wanted: 'end' as const };
    yield;
    const { line, column } = lineAndColumn(text, mistake.offset);
    const found = mistake.offset === text.length ? ', where it ends' : '';
    throw invalid(
      `The request body is not valid JSON: ${EXPLAINED[mistake.wanted]} is expected at line ${line}, column ${column}${found}.`,
    );
  }
}

/** Throws validation_error for bytes that are not UTF-8 and text that is not JSON, naming line and column, and for JSON without measure. */
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
