// Two kinds of customers: one with a modest load of its own, which notices how long each render
// takes, and one that floods the service.
import { setTimeout as sleep } from 'node:timers/promises';
import { openLoop } from './arrivals.ts';
import { invoice } from './invoice.ts';
import { type Answer, type Customer, mustBePdf } from './service.ts';

/**
 * Three times what the plan of the flooding account allows: it is full all the time, and the rest
 * is refused.
 */
const FLOOD_CALLERS = 24;
/** Sooner than `Retry-After` asks for: whoever floods is not polite. */
const FLOOD_AGAIN_MS = 250;

const documents = Array.from({ length: 32 }, (_, nth) => invoice(nth + 1));
/** One of 32, so that no two that follow each other are the same. */
export const document = (nth: number) => documents[nth % documents.length]!;

export interface Felt {
  /** Infinity for a render that was refused. */
  tookMs: number[];
  /** Waiting for a slot, by the service's own word. */
  queuedMs: number[];
}

const queuedMs = ({ timings }: Answer) => Number(/\bqueue;dur=([\d.]+)/.exec(timings)?.[1] ?? 0);

/** Renders at these times, in ms from now. Throws when the service fails. */
export async function modest(customer: Customer, atMs: readonly number[]): Promise<Felt> {
  const answers = await openLoop(atMs, nth => customer(document(nth)));
  for (const { answer } of answers) if (answer.status !== 429) mustBePdf(answer);
  return {
    tookMs: answers.map(({ tookMs, answer }) =>
      answer.status === 200 ? tookMs : Number.POSITIVE_INFINITY,
    ),
    queuedMs: answers.map(({ answer }) => queuedMs(answer)),
  };
}

/** Until `end` aborts. Gives the renders that it got and the calls that were refused. */
export async function flood(
  customer: Customer,
  end: AbortSignal,
): Promise<{ served: number; refused: number }> {
  let [served, refused] = [0, 0];
  const lane = async (first: number) => {
    for (let nth = first; !end.aborted; nth++) {
      const answer = await customer(document(nth));
      if (answer.status === 429) {
        refused += 1;
        await sleep(FLOOD_AGAIN_MS);
      } else {
        mustBePdf(answer);
        served += 1;
      }
    }
  };
  await Promise.all(Array.from({ length: FLOOD_CALLERS }, (_, nth) => lane(nth)));
  return { served, refused };
}

export const joined = (all: readonly Felt[]): Felt => ({
  tookMs: all.flatMap(each => each.tookMs),
  queuedMs: all.flatMap(each => each.queuedMs),
});
