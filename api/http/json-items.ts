// Splits a body into JSON objects while it arrives: the lines of newline-delimited JSON, or the
// elements of an array. Does not check the JSON of an object.
import { ApiError, invalid } from '../../common/contract/errors.ts';
import { Blocks } from './collect-bytes.ts';

export interface JsonItem {
  bytes: Buffer;
  /** Its place in the body, for messages: `Line 3` or `Item 3`. */
  where: string;
}

export interface ItemOptions {
  maxItemBytes: number;
  /** Called before memory for an incomplete item is allocated; an error it returns is thrown. */
  reserve(bytes: number): Error | undefined;
}

const [QUOTE, COMMA, LINE_END, BACKSLASH] = [0x22, 0x2c, 0x0a, 0x5c];
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];
const isSpace = (byte: number) => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);

export abstract class JsonItems {
  readonly #maxItemBytes: number;
  readonly #pending: Blocks;
  #count = 0;

  constructor({ maxItemBytes, reserve }: ItemOptions) {
    this.#maxItemBytes = maxItemBytes;
    this.#pending = new Blocks(reserve);
  }

  /** The items that end in this piece. Throws ApiError for a body of another form. */
  abstract push(piece: Buffer): Generator<JsonItem, void>;
  /** The last item. Throws ApiError for an incomplete body. */
  abstract end(): JsonItem | undefined;

  /** What `reserve` was called for, of the item that is not complete. */
  get pendingBytes(): number {
    return this.#pending.reservedBytes;
  }

  protected abstract readonly name: string;

  /** The place of the item that is not complete, or comes next. */
  protected get where(): string {
    return `${this.name} ${this.#count + 1}`;
  }

  protected keep(part: Buffer): void {
    const max = this.#maxItemBytes;
    if (this.#pending.bytes + part.length > max)
      throw new ApiError('payload_too_large', `${this.where} is larger than ${max} bytes.`);
    const error = this.#pending.add(part);
    if (error) throw error;
  }

  /** Whether nothing of the next item has arrived. */
  protected get isBetween(): boolean {
    return this.#pending.bytes === 0;
  }

  /** Counts an item that is empty. */
  protected skip(): void {
    this.#count++;
  }

  protected complete(): JsonItem {
    const item = { bytes: this.#pending.take(), where: this.where };
    this.#count++;
    return item;
  }
}

/** Blank lines are skipped. */
export class JsonLines extends JsonItems {
  protected readonly name = 'Line';

  *push(piece: Buffer): Generator<JsonItem, void> {
    let from = 0;
    for (let at = piece.indexOf(LINE_END); at >= 0; at = piece.indexOf(LINE_END, from)) {
      const part = piece.subarray(from, at);
      from = at + 1;
      if (this.isBetween && part.every(isSpace)) {
        this.skip();
        continue;
      }
      this.keep(part);
      const line = this.end();
      if (line) yield line;
    }
    this.keep(piece.subarray(from));
  }

  end(): JsonItem | undefined {
    const line = this.complete();
    return line.bytes.every(isSpace) ? undefined : line;
  }
}

const notAnArray = (what: string) =>
  invalid(`The body must be a JSON array of render requests: ${what}.`);

export class JsonArrayItems extends JsonItems {
  protected readonly name = 'Item';
  /** What comes next. `first`: an item or the end of the array. */
  #expected: 'array' | 'first' | 'item' | 'comma' | 'nothing' = 'array';
  /** Of the item that is not complete. */
  #depth = 0;
  #inString = false;
  #isEscaped = false;

  *push(piece: Buffer): Generator<JsonItem, void> {
    let from = 0;
    for (let at = 0; at < piece.length; at++) {
      const byte = piece[at]!;
      if (this.#depth > 0) {
        if (!this.#isLast(byte)) continue;
        this.keep(piece.subarray(from, at + 1));
        this.#expected = 'comma';
        yield this.complete();
      } else if (!isSpace(byte)) {
        this.#between(byte);
        from = at;
      }
    }
    if (this.#depth > 0) this.keep(piece.subarray(from));
  }

  end(): undefined {
    if (this.#expected !== 'nothing') throw notAnArray('it ends before the closing `]`');
  }

  /** Whether this byte of an item ends it. */
  #isLast(byte: number): boolean {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (this.#inString) {
      if (byte === BACKSLASH) this.#isEscaped = true;
      else if (byte === QUOTE) this.#inString = false;
    } else if (byte === QUOTE) this.#inString = true;
    else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) this.#depth++;
    else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) this.#depth--;
    return this.#depth === 0;
  }

  /** A byte outside of items. */
  #between(byte: number): void {
    const expected = this.#expected;
    if (expected === 'array' && byte === OPEN_ARRAY) this.#expected = 'first';
    else if (expected === 'comma' && byte === COMMA) this.#expected = 'item';
    else if ((expected === 'first' || expected === 'comma') && byte === CLOSE_ARRAY)
      this.#expected = 'nothing';
    else if ((expected === 'first' || expected === 'item') && byte === OPEN_OBJECT) this.#depth = 1;
    else throw notAnArray(this.#mistake());
  }

  #mistake(): string {
    if (this.#expected === 'array') return 'it does not begin with `[`';
    if (this.#expected === 'nothing') return 'there is text after the closing `]`';
    const next = this.where.toLowerCase();
    if (this.#expected === 'comma') return `\`,\` or the closing \`]\` is missing before ${next}`;
    return `${next} is not a JSON object`;
  }
}
