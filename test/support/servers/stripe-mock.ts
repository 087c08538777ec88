// stripe-mock, which validates each request against Stripe's OpenAPI document and keeps no state.
// Built once with Go.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { BUILD_LIMIT_MS, kubeBinaries, whyNoBinaries } from '../../cluster/kube/binaries.ts';
import { skip } from '../skip.ts';

export interface StripeMock {
  url: string;
  stop(): Promise<void>;
}

/** Call in `before`. Skips the suite when stripe-mock cannot be built. */
export async function stripeMock(context: Mocha.Context): Promise<StripeMock> {
  const why = whyNoBinaries(['stripe-mock']);
  if (why !== undefined) return skip(context, `stripe-mock is not available: ${why}.`);
  context.timeout(BUILD_LIMIT_MS);
  const { 'stripe-mock': program } = await kubeBinaries(['stripe-mock']);
  const child = spawn(program, ['-http-addr', '127.0.0.1:0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  for await (const line of createInterface({ input: child.stdout })) {
    const address = /Listening for HTTP at address: (\S+)/.exec(line)?.[1];
    if (address === undefined) continue;
    // Drains further output, so that the process does not block on a full pipe.
    child.stdout.resume();
    return {
      url: `http://${address}`,
      stop: async () => {
        child.kill();
        await ended;
      },
    };
  }
  throw new Error('stripe-mock ended before it listened');
}
