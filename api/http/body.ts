// Reads a JSON body: bounded in bytes, in time, and in what the whole process holds. Nothing is buffered past the limit.
import type { IncomingMessage } from 'node:http';
import { type ApiError, invalid, renderFailed } from '../contract/errors.ts';
import { type BodyWords, checkBodyHeaders, checkNotEmpty, tooLarge } from './body-headers.ts';
import type { ByteBudget, Reservation } from './byte-budget.ts';
import { collectBytes } from './collect-bytes.ts';
import { parseJson, parseJsonInTurns } from './json-text.ts';
import { ClientClosed, type Context, type Middleware } from './state.ts';

export interface BodyLimits {
  maxBytes: number;
  /** A body of which nothing came for so long is given up, */
  silentMs: number;
  /** and so is one that takes so long in all. */
  totalMs: number;
  /** A render's when absent. */
  words?: BodyWords | undefined;
}

export const BODY_TIMES = { silentMs: 10_000, totalMs: 60_000 };

/**
 * What a byte of a body costs while its render waits and runs. As a string it takes two, since a single character beyond Latin-1 (a dash, a euro sign)
 * makes every character of the text two bytes wide; and one more on its way to Chrome, as a frame. The bytes themselves are dropped once they are parsed.
 */
export const HELD_PER_BODY_BYTE = 3;

/** Parsing takes 4 to 6 ms for each MB, in which no other render has the event loop. */
const PARSED_AT_ONCE = 512 * 1_024;

const overloaded = () =>
  renderFailed('overloaded', 'The service holds as many requests as it can at the moment. Try again.', { retryAfterS: 2 });

const tooSlow = (what: string) => invalid(`The request body did not arrive: ${what}. Send it without pauses.`);

/**
 * `reserved`: how many bytes of it were taken from the budget before; `noRoom`: what is thrown when no more can be taken.
 * Rejects with ApiError or ClientClosed; then the request is left paused.
 */
function readBytes(
  request: IncomingMessage,
  limits: BodyLimits,
  reservation: Reservation,
  reserved: number,
  noRoom: () => ApiError,
): Promise<Buffer> {
  let bytes = 0;
  let free = reserved;
  const seconds = (ms: number) => `${ms / 1_000} s`;
  const { maxBytes, silentMs, totalMs, words } = limits;
  return collectBytes(request, {
    take(piece) {
      bytes += piece.length;
      free -= piece.length;
      if (bytes > maxBytes) return tooLarge(maxBytes, words);
      if (free < 0 && !reservation.take(-free * HELD_PER_BODY_BYTE)) return noRoom();
      free = Math.max(0, free);
      return undefined;
    },
    silent: { ms: silentMs, late: () => tooSlow(`nothing came for ${seconds(silentMs)}`) },
    total: { ms: totalMs, late: () => tooSlow(`it took more than ${seconds(totalMs)}`) },
  });
}

/** The body as a value. A function of its own, so that nothing holds the bytes while the value is in use. */
async function readJson(...from: Parameters<typeof readBytes>): Promise<{ value: unknown; bytes: number }> {
  const body = await readBytes(...from);
  checkNotEmpty(body.length, from[1].words);
  return { value: body.length > PARSED_AT_ONCE ? await parseJsonInTurns(body) : parseJson(body), bytes: body.length };
}

/** What stands in the state as the body, and how many bytes it was. */
type Read = (...from: Parameters<typeof readBytes>) => Promise<{ value: unknown; bytes: number }>;

/** The same without parsing. */
async function readRaw(...from: Parameters<typeof readBytes>): Promise<{ value: Buffer; bytes: number }> {
  const value = await readBytes(...from);
  checkNotEmpty(value.length);
  return { value, bytes: value.length };
}

/** The server leaves this to us, so that a caller who asks first is refused before sending. */
export function sayContinue({ req, res, state }: Context): void {
  if (req.headers.expect === undefined) return;
  res.writeContinue();
  state.continued = true;
}

const body =
  (read: Read) =>
  (limits: BodyLimits, budget: ByteBudget, noRoom: () => ApiError = overloaded): Middleware => {
    return async (ctx, next) => {
      const { req, res, state } = ctx;
      const length = checkBodyHeaders(req.headers, limits.maxBytes, limits.words) ?? 0;
      const reservation = budget.open();
      res.once('close', reservation.close);
      state.reservation = reservation;
      if (req.socket.destroyed) throw new ClientClosed();
      if (!reservation.take(length * HELD_PER_BODY_BYTE)) throw noRoom();
      sayContinue(ctx);
      const { value, bytes } = await read(req, limits, reservation, length, noRoom);
      state.bodyBytes = bytes;
      state.body = value;
      await next();
      // A caller who is slow to read the answer holds that alone.
      reservation.give(bytes * HELD_PER_BODY_BYTE);
    };
  };

/** Puts the parsed body, its size and the reservation that covers it into the state; the reservation ends with the answer. */
export const jsonBody = body(readJson);

/** The same for a body of JSON whose very bytes count, because somebody has signed them: the state has a Buffer. */
export const bodyBytes = body(readRaw);
