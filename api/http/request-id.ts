// The id of a request: our own, never the caller's; in the answer's header, in error bodies and in every log line.
import { randomFillSync } from 'node:crypto';
import type { Middleware } from './state.ts';

/** A UUID version 7 (RFC 9562 §5.7): 48 bits of time in ms, then random bits, so that ids sort by time. */
export function createRequestId(nowMs = Date.now()): string {
  const bytes = Buffer.allocUnsafe(16);
  randomFillSync(bytes, 6);
  bytes.writeUIntBE(nowMs, 0, 6);
  bytes[6] = 0x70 | (bytes[6]! & 0x0f);
  bytes[8] = 0x80 | (bytes[8]! & 0x3f);
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

export const requestId: Middleware = async (ctx, next) => {
  ctx.state.requestId = createRequestId();
  ctx.set('X-Request-Id', ctx.state.requestId);
  await next();
};
