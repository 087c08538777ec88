// Tickets authorize an API at a worker. They are signed with the pool secret, which is never sent.
import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';

export type EgressPolicy = 'public' | 'intranet';

export interface Ticket {
  pool: string;
  purpose: 'slot' | 'status';
  /** The render's request ID, for the worker's log. Empty for status. */
  renderId: string;
  egress: EgressPolicy;
  /** The render's account; each trial client counts as one. Absent from the previous release. */
  account?: string;
  /**
   * `warm`: the document is static, and the render may use a sealed page that served the account
   * before. A worker of the previous release ignores it.
   */
  isolation?: 'warm';
  /** A random name of the API process. Absent from the previous release. */
  api?: string;
  /** The worker ends the slot at this age. */
  maxMs: number;
  /**
   * Expiry as Unix time in ms. Generous, because the clocks of two machines are compared; `id`
   * prevents replay.
   */
  notAfterMs: number;
  /** A ticket opens one slot or status, once. */
  id: string;
}

/** Lifetime of a ticket. Hosts whose clocks differ by more cannot work together. */
export const TICKET_LIFE_MS = 60_000;

const mac = (secret: string, payload: string) =>
  createHmac('sha256', secret).update(payload).digest();

export function signTicket(
  secret: string,
  ticket: Omit<Ticket, 'id' | 'notAfterMs'>,
  nowMs = Date.now(),
): string {
  const full: Ticket = { ...ticket, notAfterMs: nowMs + TICKET_LIFE_MS, id: randomUUID() };
  const payload = Buffer.from(JSON.stringify(full)).toString('base64url');
  return `${payload}.${mac(secret, payload).toString('base64url')}`;
}

export type TicketCheck =
  | { ok: true; ticket: Ticket }
  | { ok: false; reason: 'malformed' | 'signature' | 'expired' | 'pool' | 'purpose' | 'used' };

/** Undefined if it is not a JSON object, because a holder of the secret can sign anything. */
function readPayload(payload: string): Ticket | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString());
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Ticket)
      : undefined;
  } catch {
    return undefined;
  }
}

/** Checks the tickets of one pool. Used tickets are stored until they expire. */
export function createTicketChecker(secret: string, pool: string) {
  const used = new Map<string, number>();
  return (text: string, purpose: Ticket['purpose'], nowMs = Date.now()): TicketCheck => {
    const [payload, signature, ...rest] = text.split('.');
    if (!payload || !signature || rest.length > 0 || text.length > 2_048)
      return { ok: false, reason: 'malformed' };
    const given = Buffer.from(signature, 'base64url');
    const expected = mac(secret, payload);
    if (given.length !== expected.length || !timingSafeEqual(given, expected))
      return { ok: false, reason: 'signature' };
    const ticket = readPayload(payload);
    if (!ticket) return { ok: false, reason: 'malformed' };
    if (ticket.pool !== pool) return { ok: false, reason: 'pool' };
    if (ticket.purpose !== purpose) return { ok: false, reason: 'purpose' };
    if (nowMs > ticket.notAfterMs || ticket.notAfterMs > nowMs + 2 * TICKET_LIFE_MS)
      return { ok: false, reason: 'expired' };
    for (const [id, notAfterMs] of used) if (notAfterMs < nowMs) used.delete(id);
    if (used.has(ticket.id)) return { ok: false, reason: 'used' };
    used.set(ticket.id, ticket.notAfterMs);
    return { ok: true, ticket };
  };
}
