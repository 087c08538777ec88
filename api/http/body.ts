// Reads a JSON body: checks its headers, bounds it in bytes, in time, and in what the whole process
// holds, and parses it. Nothing is buffered past the limit.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { setImmediate as othersTurn } from 'node:timers/promises';
import { ApiError, invalid } from '../../common/contract/errors.ts';
import type { ByteBudget, Holder, Reservation } from './byte-budget.ts';
import { collectBytes, type ReceiveBounds } from './collect-bytes.ts';
import { ClientClosed } from './errors.ts';
import type { Context, Middleware } from './state.ts';

/** What to send instead of a missing or too large body. */
export interface BodyHints {
  missing: string;
  tooLarge: string;
}

export const RENDER_BODY_HINTS: BodyHints = {
  missing: 'Send a JSON object with `html` or `url`.',
  tooLarge: 'Send less HTML, or load images from a URL.',
};

export const bodyTooLarge = (maxBytes: number, hints = RENDER_BODY_HINTS) =>
  new ApiError(
    'payload_too_large',
    `The request body is larger than ${maxBytes} bytes. ${hints.tooLarge}`,
  );

const missing = (hints: BodyHints) => invalid(`The request body is missing. ${hints.missing}`);

const JSON_TYPE = 'application/json';
const expected = (types: readonly string[]) =>
  `Send the body as ${types.map(type => `\`Content-Type: ${type}\``).join(' or ')}, in UTF-8.`;

/** In messages; anything but a short media type is left out. */
const quotedType = (type: string) =>
  /^[\w.+-]{1,40}\/[\w.+-]{1,60}$/.test(type) ? `: "${type}"` : '';
const quotedCharset = (charset: string) => {
  const [, name] = /^"?([\w.:+-]{1,40})"?$/.exec(charset) ?? [];
  return name === undefined ? '' : `: "${name}"`;
};

/** Returns the media type. Throws ApiError for one that is not among `types`. */
export function checkType(header: string | undefined, types: readonly string[]): string {
  const send = expected(types);
  if (header === undefined) throw invalid(`The header \`Content-Type\` is missing. ${send}`);
  const [type = '', ...parameters] = header.split(';').map(part => part.trim().toLowerCase());
  if (!types.includes(type))
    throw invalid(`Unsupported \`Content-Type\`${quotedType(type)}. ${send}`);
  for (const parameter of parameters) {
    const charset = /^charset=(.*)$/.exec(parameter)?.[1];
    if (charset !== undefined && !/^("?)utf-?8\1$/.test(charset))
      throw invalid(`Unsupported charset in \`Content-Type\`${quotedCharset(charset)}. ${send}`);
  }
  return type;
}

/**
 * Returns the announced length, undefined for a chunked body. Throws ApiError for a body that must
 * not be read.
 */
export function checkBodyHeaders(
  headers: IncomingHttpHeaders,
  maxBytes: number,
  hints = RENDER_BODY_HINTS,
  types: readonly string[] = [JSON_TYPE],
): number | undefined {
  const length =
    headers['content-length'] === undefined ? undefined : Number(headers['content-length']);
  if (headers['transfer-encoding'] === undefined && !length) throw missing(hints);
  checkType(headers['content-type'], types);
  if ((headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity')
    throw invalid('The header `Content-Encoding` is not supported. Send the body uncompressed.');
  if (length !== undefined && length > maxBytes) throw bodyTooLarge(maxBytes, hints);
  return length;
}

/** Throws ApiError for a body of no bytes, which a chunked request can have. */
export function checkNotEmpty(bytes: number, hints = RENDER_BODY_HINTS): void {
  if (bytes === 0) throw missing(hints);
}

/**
 * No real request comes near these. A body of brackets or names alone would block the event loop
 * for seconds.
 */
const MAX_DEPTH = 32;
const MAX_MEMBERS = 10_000;

/**
 * Why a body is too complex: its depth, or its number of members and elements. Skips strings.
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

const BODY = 'The request body';

/** From bytes to value in steps; each step reads all bytes. `what`: their name in messages. */
function* parsing(bytes: Buffer, what = BODY): Generator<void, unknown> {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw invalid(`${what} is not valid UTF-8.`, cause);
  }
  yield;
  const excess = tooMuch(bytes);
  if (excess) throw invalid(`${what} ${excess}.`);
  yield;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalid(`${what} is not valid JSON: ${mistakeIn((error as Error).message)}.`);
  }
}

/**
 * Throws validation_error for bytes that are not UTF-8, text that is not JSON, and JSON that is too
 * deep or has too many members.
 */
export function parseJson(bytes: Buffer, what = BODY): unknown {
  for (const steps = parsing(bytes, what); ; ) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Like `parseJson`, but yields to the event loop after each step. */
export async function parseJsonInTurns(bytes: Buffer, what = BODY): Promise<unknown> {
  for (const steps = parsing(bytes, what); ; await othersTurn()) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Parsing blocks the event loop for 4 to 6 ms per MB. */
const PARSED_AT_ONCE = 512 * 1_024;

/** In turns if it would block the event loop. */
export const parseAnyJson = async (bytes: Buffer, what = BODY): Promise<unknown> =>
  bytes.length > PARSED_AT_ONCE ? parseJsonInTurns(bytes, what) : parseJson(bytes, what);

export interface BodyLimits {
  maxBytes: number;
  /** The longest time without data, */
  silentMs: number;
  /** the longest time in total, */
  totalMs: number;
  /** and the minimum rate after a grace period. */
  slow?: { graceMs: number; bytesPerS: number };
  /** Default: those of a render. */
  hints?: BodyHints | undefined;
}

/**
 * 2 KiB/s is slower than any usable connection. A slower body would occupy a request slot for a
 * minute at no cost.
 */
export const BODY_TIMES = {
  silentMs: 10_000,
  totalMs: 60_000,
  slow: { graceMs: 5_000, bytesPerS: 2 * 1_024 },
};

/** Of a batch, which is stored while it arrives. */
export const BATCH_TIMES = { ...BODY_TIMES, totalMs: 5 * 60_000 };

/**
 * Bytes of memory per byte of a body while its render is queued and runs: two as a string, since
 * one character beyond Latin-1 makes all characters two bytes wide, and one as a frame to Chrome.
 */
export const HELD_PER_BODY_BYTE = 3;

const tooSlow = (what: string) =>
  invalid(`The request body timed out: ${what}. Send it without pauses.`);

const seconds = (ms: number) => `${ms / 1_000} s`;

export function receiveBounds({
  maxBytes,
  silentMs,
  totalMs,
  slow,
  hints,
}: BodyLimits): ReceiveBounds {
  const slower = (bytesPerS: number, graceMs: number) =>
    `it was slower than ${bytesPerS} bytes per second after ${seconds(graceMs)}`;
  return {
    maxBytes,
    tooLarge: () => bodyTooLarge(maxBytes, hints),
    silent: { ms: silentMs, late: () => tooSlow(`no data for ${seconds(silentMs)}`) },
    total: { ms: totalMs, late: () => tooSlow(`it took longer than ${seconds(totalMs)}`) },
    ...(slow && {
      slow: { ...slow, late: () => tooSlow(slower(slow.bytesPerS, slow.graceMs)) },
    }),
  };
}

/**
 * Reserves memory as the bytes arrive, not by the declared length. Rejects with ApiError or
 * ClientClosed; then the request is left paused.
 */
async function readBytes(
  request: IncomingMessage,
  limits: BodyLimits,
  reservation: Reservation,
): Promise<Buffer> {
  let reserved = 0;
  const body = await collectBytes(request, {
    ...receiveBounds(limits),
    reserve(bytes) {
      if (!reservation.reserve(bytes * HELD_PER_BODY_BYTE)) return reservation.overBudget();
      reserved += bytes;
      return undefined;
    },
  });
  reservation.release((reserved - body.length) * HELD_PER_BODY_BYTE);
  checkNotEmpty(body.length, limits.hints);
  return body;
}

/**
 * Returns the body for the state and its length. A separate function, so that the bytes can be
 * freed while the value is in use.
 */
async function read(parse: (bytes: Buffer) => unknown, ...from: Parameters<typeof readBytes>) {
  const bytes = await readBytes(...from);
  return { value: await parse(bytes), bytes: bytes.length };
}

/** Sent here and not by Node, so that a client with `Expect` is rejected before it sends a body. */
export function sendContinue({ req, res, state }: Context): void {
  if (req.headers.expect === undefined) return;
  res.writeContinue();
  state.continued = true;
}

/** `holderOf`: the caller whose share of the budget a request counts in. */
const body =
  (parse: (bytes: Buffer) => unknown) =>
  (limits: BodyLimits, budget: ByteBudget, holderOf: (ctx: Context) => Holder): Middleware => {
    // A body that can never fit is too large, not over budget.
    const maxBytes = Math.min(
      limits.maxBytes,
      Math.floor(budget.maxBytesOfOne / HELD_PER_BODY_BYTE),
    );
    return async (ctx, next) => {
      const { req, res, state } = ctx;
      const declared = checkBodyHeaders(req.headers, maxBytes, limits.hints) ?? 0;
      const reservation = budget.open(holderOf(ctx));
      res.once('close', reservation.close);
      state.reservation = reservation;
      if (req.socket.destroyed) throw new ClientClosed();
      // The declared length reserves nothing. It only rejects early what cannot fit.
      if (!reservation.fits(declared * HELD_PER_BODY_BYTE)) throw reservation.overBudget();
      sendContinue(ctx);
      const reading = read(parse, req, { ...limits, maxBytes }, reservation);
      const { value, bytes } = await reading.catch(error => {
        // The response may take long to send, and the body is no longer held.
        reservation.close();
        throw error;
      });
      state.bodyBytes = bytes;
      state.body = value;
      await next();
      // While a slow client reads, only the response counts.
      reservation.release(bytes * HELD_PER_BODY_BYTE);
    };
  };

/**
 * Puts the parsed body, its size and the reservation that covers it into the state; the reservation
 * ends with the answer.
 */
export const jsonBody = body(parseAnyJson);

/**
 * The same for a JSON body whose bytes are signed: the state has a Buffer.
 */
export const bodyBytes = body(bytes => bytes);
