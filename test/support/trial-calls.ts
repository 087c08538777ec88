// Trial requests through a trusted proxy, by default each from a new client address.
import { expect } from 'chai';
import { eventually } from './eventually.ts';
import type { Answer, Call } from './http-call.ts';
import { html, type Installation } from './installation.ts';

export const PATH = '/v1/trial/render';
export const PROXIES = { PRESSROOM_TRUSTED_PROXIES: '127.0.0.1/32' };
export const HELLO = { html: html('<h1>Hello, trial</h1>') };
/** What `rejected` returns for a response above a limit. */
export const RATE_LIMITED = { status: 429, retryAfter: '60' };

let addresses = 0;
/** A client address that no request has used. */
export const newAddress = () => {
  addresses += 1;
  return `198.51.${100 + (addresses >> 8)}.${addresses & 255}`;
};

export const port = ({ url }: Installation) => Number(new URL(url).port);

/** Sends a trial request through a trusted proxy. */
export const trial = (
  pressroom: Installation,
  body: unknown,
  from = newAddress(),
  headers: Record<string, string> = {},
): Call =>
  pressroom.call(
    'POST',
    PATH,
    { 'content-type': 'application/json', 'x-forwarded-for': from, ...headers },
    typeof body === 'string' ? body : JSON.stringify(body),
  );

export const rejected = ({ status, headers }: Answer) => ({
  status,
  retryAfter: headers['retry-after'],
});
export const codeOf = (answer: Answer) => (answer.status === 200 ? 'ok' : answer.error().code);

/**
 * Waits until the installation accepts a trial render. A process may cache for a moment that all
 * trial slots are taken.
 */
export const untilAdmitted = (pressroom: Installation) =>
  eventually(async () => expect(codeOf(await trial(pressroom, HELLO))).to.equal('ok'), 20_000);
