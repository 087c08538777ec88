// Reads a JSON body: bounded in bytes, in time, and in what the whole process holds. Nothing is
// buffered past the limit.
import type { IncomingMessage } from 'node:http';
import { invalid } from '../../common/contract/errors.ts';
import { type BodyWords, bodyTooLarge, checkBodyHeaders, checkNotEmpty } from './body-headers.ts';
import type { ByteBudget, Holder, Reservation } from './byte-budget.ts';
import { ClientClosed } from './client-disconnect.ts';
import { collectBytes } from './collect-bytes.ts';
import { parseJson, parseJsonInTurns } from './json-text.ts';
import type { Context, Middleware } from './state.ts';

export interface BodyLimits {
  maxBytes: number;
  /** A body of which nothing came for so long is given up, */
  silentMs: number;
  /** and so is one that takes so long in all, */
  totalMs: number;
  /** or brings fewer bytes a second once it is this old. */
  slow?: { graceMs: number; bytesPerS: number };
  /** A render's when absent. */
  words?: BodyWords | undefined;
}

/**
 * 2 KiB/s is slower than any usable connection. A slower body would hold its place for a minute at
 * no cost.
 */
export const BODY_TIMES = {
  silentMs: 10_000,
  totalMs: 60_000,
  slow: { graceMs: 5_000, bytesPerS: 2 * 1_024 },
};

/**
 * What a byte of a body costs while its render waits and runs. As a string it takes two, since a
 * single character beyond Latin-1 (a dash, a euro sign) makes every character of the text two bytes
 * wide; and one more on its way to Chrome, as a frame. The bytes themselves are dropped once they
 * are parsed.
 */
export const HELD_PER_BODY_BYTE = 3;

/** Parsing takes 4 to 6 ms for each MB, in which no other render has the event loop. */
const PARSED_AT_ONCE = 512 * 1_024;

const tooSlow = (what: string) =>
  invalid(`The request body did not arrive: ${what}. Send it without pauses.`);

const seconds = (ms: number) => `${ms / 1_000} s`;

/**
 * Reserves memory as the bytes arrive; what the caller declares reserves nothing. Rejects with
 * ApiError or ClientClosed; then the request is left paused.
 */
async function readBytes(
  request: IncomingMessage,
  limits: BodyLimits,
  reservation: Reservation,
): Promise<Buffer> {
  const { maxBytes, silentMs, totalMs, slow, words } = limits;
  let reserved = 0;
  const body = await collectBytes(request, {
    maxBytes,
    tooLarge: () => bodyTooLarge(maxBytes, words),
    reserve(bytes) {
      if (!reservation.take(bytes * HELD_PER_BODY_BYTE)) return reservation.overBudget();
      reserved += bytes;
      return undefined;
    },
    silent: { ms: silentMs, late: () => tooSlow(`nothing came for ${seconds(silentMs)}`) },
    total: { ms: totalMs, late: () => tooSlow(`it took more than ${seconds(totalMs)}`) },
    ...(slow && {
      slow: {
        ...slow,
        late: () =>
          tooSlow(`after ${seconds(slow.graceMs)} it must bring ${slow.bytesPerS} bytes a second`),
      },
    }),
  });
  reservation.give((reserved - body.length) * HELD_PER_BODY_BYTE);
  checkNotEmpty(body.length, words);
  return body;
}

/**
 * What stands in the state as the body, and how many bytes it was. A function of its own, so that
 * nothing holds the bytes while the value is in use.
 */
type Read = (...from: Parameters<typeof readBytes>) => Promise<{ value: unknown; bytes: number }>;

const readJson: Read = async (...from) => {
  const body = await readBytes(...from);
  return {
    value: body.length > PARSED_AT_ONCE ? await parseJsonInTurns(body) : parseJson(body),
    bytes: body.length,
  };
};

/** The same without parsing. */
const readRaw: Read = async (...from) => {
  const value = await readBytes(...from);
  return { value, bytes: value.length };
};

/** The server leaves this to us, so that a caller who asks first is refused before sending. */
export function sayContinue({ req, res, state }: Context): void {
  if (req.headers.expect === undefined) return;
  res.writeContinue();
  state.continued = true;
}

/** `holderOf`: in whose share of the budget a request counts. */
const body =
  (read: Read) =>
  (limits: BodyLimits, budget: ByteBudget, holderOf: (ctx: Context) => Holder): Middleware => {
    // A body that could never fit is too large, not too many.
    const maxBytes = Math.min(
      limits.maxBytes,
      Math.floor(budget.maxBytesOfOne / HELD_PER_BODY_BYTE),
    );
    return async (ctx, next) => {
      const { req, res, state } = ctx;
      const declared = checkBodyHeaders(req.headers, maxBytes, limits.words) ?? 0;
      const reservation = budget.open(holderOf(ctx));
      res.once('close', reservation.close);
      state.reservation = reservation;
      if (req.socket.destroyed) throw new ClientClosed();
      // Nothing is reserved by it: a caller can declare much at no cost. It only saves sending what
      // would be refused.
      if (!reservation.fits(declared * HELD_PER_BODY_BYTE)) throw reservation.overBudget();
      sayContinue(ctx);
      const { value, bytes } = await read(req, { ...limits, maxBytes }, reservation).catch(
        error => {
          // The answer may take its time to go out, and nothing of the body is held any more.
          reservation.close();
          throw error;
        },
      );
      state.bodyBytes = bytes;
      state.body = value;
      await next();
      // A caller who is slow to read the answer holds that alone.
      reservation.give(bytes * HELD_PER_BODY_BYTE);
    };
  };

/**
 * Puts the parsed body, its size and the reservation that covers it into the state; the reservation
 * ends with the answer.
 */
export const jsonBody = body(readJson);

/**
 * The same for a body of JSON whose very bytes count, because somebody has signed them: the state
 * has a Buffer.
 */
export const bodyBytes = body(readRaw);
