// Trial clients that overload the service: each sends the next request immediately after a
// response, and after a short delay if it was rejected.
import { setTimeout as sleep } from 'node:timers/promises';
import { document } from './customers.ts';
import { type BenchService, mustBePdf } from './service.ts';

/** Much shorter than `Retry-After`. */
const RETRY_MS = 250;

export interface TrialAnswers {
  served: number;
  rejected: number;
  /** Admitted, but timed out in the queue. */
  unserved: number;
}

let made = 0;
const newAddress = () => {
  made += 1;
  return `10.${(made >> 16) & 255}.${(made >> 8) & 255}.${made & 255}`;
};

/**
 * Sends requests until `end` aborts. Half of the clients keep their IP address; the others change
 * it, so that limits per address do not apply.
 */
export async function overloadTrial(
  service: Pick<BenchService, 'trial'>,
  callers: number,
  end: AbortSignal,
): Promise<TrialAnswers> {
  const answers: TrialAnswers = { served: 0, rejected: 0, unserved: 0 };
  const lane = async (caller: number) => {
    const own = newAddress();
    await sleep(Math.random() * RETRY_MS); // not all in the same moment
    for (let nth = caller; !end.aborted; nth++) {
      const answer = await service.trial(document(nth), caller % 2 ? own : newAddress());
      if (answer.status === 429) {
        answers.rejected += 1;
        await sleep(RETRY_MS);
      } else if (answer.body.includes('"no_worker"')) answers.unserved += 1;
      else {
        mustBePdf(answer);
        answers.served += 1;
      }
    }
  };
  await Promise.all(Array.from({ length: callers }, (_, nth) => lane(nth)));
  return answers;
}
