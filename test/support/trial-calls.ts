// Trial calls as tests make them: each from an address of its own unless told otherwise, as it
// comes through a trusted proxy.
import { expect } from 'chai';
import { eventually } from './eventually.ts';
import type { Answer, Call } from './http-call.ts';
import { html, type Installation } from './installation.ts';

export const PATH = '/v1/trial/render';
export const PROXIES = { PRESSROOM_TRUSTED_PROXIES: '127.0.0.1/32' };
export const HELLO = { html: html('<h1>Hello, visitor</h1>') };
/** What `refused` gives of a call over either limit. */
export const RATE_LIMITED = { status: 429, retryAfter: '60' };

let made = 0;
/** An address that nobody has called from. */
export const newAddress = () => {
  made += 1;
  return `198.51.${100 + (made >> 8)}.${made & 255}`;
};

export const port = ({ url }: Installation) => Number(new URL(url).port);

/** A trial call as it comes through a trusted proxy. */
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

export const refused = ({ status, headers }: Answer) => ({
  status,
  retryAfter: headers['retry-after'],
});
export const codeOf = (answer: Answer) => (answer.status === 200 ? 'ok' : answer.error().code);

/**
 * Until the installation takes a trial render again: a process may believe for a moment that all
 * places are taken.
 */
export const untilAdmitted = (pressroom: Installation) =>
  eventually(async () => expect(codeOf(await trial(pressroom, HELLO))).to.equal('ok'), 20_000);
