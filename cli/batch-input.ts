// Reads newline-delimited JSON for `pressroom batch` in parts, each the body of one batch. Holds one
// part in memory.
import { createHash } from 'node:crypto';
import { CliError } from './failure.ts';
import { savedStem } from './saved-name.ts';

export interface RequestLine {
  /** From 1. Blank lines count. */
  line: number;
  /** Its PDF in the directory. */
  name: string;
}

export interface InputPart {
  requests: RequestLine[];
  /** Other lines are blank in it, so that line numbers in errors of the API are those of the input. */
  body(): Buffer;
  /** SHA-256 of the input up to the end of this part, without blank lines. */
  sha256: string;
}

/**
 * A batch may have 64 MiB and 5 minutes to arrive. Less is faster to repeat, and needs 0.5 Mbit/s.
 */
const MAX_PART_BYTES = 16 * 2 ** 20;
const MAX_LINE_BYTES = 64 * 2 ** 20;
const LINE_DIGITS = 6;
/** Of reference or filename in the name of a PDF, which has a number too. */
const MAX_TEXT_BYTES = 180;
const LINE_FEED = 0x0a;
const SPACE = 0x20;

interface Line {
  line: number;
  bytes: Buffer;
}

/** Not readline, which also ends lines at characters that JSON texts may contain. */
async function* linesOf(source: AsyncIterable<Buffer>): AsyncGenerator<Line, void> {
  let pending: Buffer[] = [];
  let size = 0;
  let line = 1;
  const keep = (piece: Buffer) => {
    pending.push(piece);
    size += piece.length;
    if (size > MAX_LINE_BYTES)
      throw new CliError(`Line ${line} is larger than ${MAX_LINE_BYTES / 2 ** 20} MiB.`);
  };
  const take = () => {
    const bytes = Buffer.concat(pending);
    pending = [];
    size = 0;
    return { line: line++, bytes };
  };
  for await (const piece of source) {
    let from = 0;
    for (let at = piece.indexOf(LINE_FEED); at >= 0; at = piece.indexOf(LINE_FEED, from)) {
      keep(piece.subarray(from, at));
      yield take();
      from = at + 1;
    }
    keep(piece.subarray(from));
  }
  yield take();
}

/** Undefined for invalid JSON, which the API reports. */
function objectOf(bytes: Buffer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString());
    return typeof value === 'object' && value !== null
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** `000042-invoice-42.pdf` */
function nameFor(line: number, request: Record<string, unknown> | undefined): string {
  const number = String(line).padStart(LINE_DIGITS, '0');
  const { reference, filename } = request ?? {};
  const text = typeof reference === 'string' ? reference : filename;
  if (typeof text !== 'string') return `${number}.pdf`;
  return `${number}-${savedStem(text, MAX_TEXT_BYTES)}.pdf`;
}

export class BatchInput {
  readonly #lines: AsyncGenerator<Line, void>;
  readonly #hash = createHash('sha256');
  #defaults: Line | undefined;
  #isFirst = true;
  /** It did not fit into the part before. */
  #next: Line | undefined;

  constructor(source: AsyncIterable<Buffer>) {
    this.#lines = linesOf(source);
  }

  /** Undefined at the end. Rejects with CliError for a line that is too large. */
  async part(maxRequests: number): Promise<InputPart | undefined> {
    const lines: Line[] = [];
    const requests: RequestLine[] = [];
    let bytes = 0;
    while (lines.length < maxRequests) {
      const line = await this.#read();
      if (!line) break;
      bytes += line.bytes.length;
      if (bytes > MAX_PART_BYTES && lines.length > 0) {
        this.#next = line;
        break;
      }
      const request = objectOf(line.bytes);
      this.#hash.update(line.bytes).update('\n');
      if (this.#isFirst && Object.keys(request ?? {}).join() === 'defaults') this.#defaults = line;
      else {
        lines.push(line);
        requests.push({ line: line.line, name: nameFor(line.line, request) });
      }
      this.#isFirst = false;
    }
    if (lines.length === 0) return undefined;
    return { requests, body: () => this.#bodyOf(lines), sha256: this.#hash.copy().digest('hex') };
  }

  /** Stops reading. */
  async close(): Promise<void> {
    await this.#lines.return();
  }

  /** The next line that is not blank. */
  async #read(): Promise<Line | undefined> {
    const kept = this.#next;
    this.#next = undefined;
    if (kept) return kept;
    for (;;) {
      const { value } = await this.#lines.next();
      if (!value || value.bytes.some(byte => byte > SPACE)) return value ?? undefined;
    }
  }

  #bodyOf(lines: readonly Line[]): Buffer {
    const pieces: Buffer[] = [];
    let at = 1;
    for (const { line, bytes } of [...(this.#defaults ? [this.#defaults] : []), ...lines]) {
      pieces.push(Buffer.alloc(line - at, '\n'), bytes);
      at = line;
    }
    return Buffer.concat(pieces);
  }
}
