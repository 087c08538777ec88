// Two kinds of clients: one with a modest load whose latency is measured, and one that overloads
// the service.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from '../test/support/http-call.ts';
import { openLoop } from './arrivals.ts';
import { invoice } from './invoice.ts';
import { type Customer, mustBePdf } from './service.ts';

/** Three times the concurrency limit of the overloading account. */
const OVERLOAD_CALLERS = 24;
/** Shorter than `Retry-After`: this client ignores it. */
const OVERLOAD_RETRY_MS = 250;

const documents = Array.from({ length: 32 }, (_, nth) => invoice(nth + 1));
/** One of 32 documents, so that consecutive renders differ. */
export const document = (nth: number) => documents[nth % documents.length]!;

export interface Latencies {
  /** Infinity for a rejected render. */
  tookMs: number[];
  /** Queue times reported by the service. */
  queuedMs: number[];
}

const queuedMs = ({ headers }: Answer) =>
  Number(/\bqueue;dur=([\d.]+)/.exec(headers['server-timing'] ?? '')?.[1] ?? 0);

/** Renders at the given times in ms from now. Throws if the service fails. */
export async function modest(customer: Customer, atMs: readonly number[]): Promise<Latencies> {
  const answers = await openLoop(atMs, nth => customer(document(nth)));
  for (const { answer } of answers) if (answer.status !== 429) mustBePdf(answer);
  return {
    tookMs: answers.map(({ tookMs, answer }) =>
      answer.status === 200 ? tookMs : Number.POSITIVE_INFINITY,
    ),
    queuedMs: answers.map(({ answer }) => queuedMs(answer)),
  };
}

/** Sends requests until `end` aborts. Returns the numbers of renders and of rejected requests. */
export async function overload(
  customer: Customer,
  end: AbortSignal,
): Promise<{ served: number; rejected: number }> {
  let [served, rejected] = [0, 0];
  const lane = async (first: number) => {
    for (let nth = first; !end.aborted; nth++) {
      const answer = await customer(document(nth));
      if (answer.status === 429) {
        rejected += 1;
        await sleep(OVERLOAD_RETRY_MS);
      } else {
        mustBePdf(answer);
        served += 1;
      }
    }
  };
  await Promise.all(Array.from({ length: OVERLOAD_CALLERS }, (_, nth) => lane(nth)));
  return { served, rejected };
}

export const joined = (all: readonly Latencies[]): Latencies => ({
  tookMs: all.flatMap(each => each.tookMs),
  queuedMs: all.flatMap(each => each.queuedMs),
});
