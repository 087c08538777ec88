// Stripe's own stand-in, which checks each call against the published description of the API and
// remembers nothing. Built with Go, once.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { BUILD_LIMIT_MS, kubeBinaries, whyNoBinaries } from '../../cluster/kube/binaries.ts';
import { skip } from '../skip.ts';

export interface StripeMock {
  url: string;
  stop(): Promise<void>;
}

/** For a `before`: skips the suite where it can not be had. */
export async function stripeMock(context: Mocha.Context): Promise<StripeMock> {
  const why = whyNoBinaries(['stripe-mock']);
  if (why !== undefined) return skip(context, `The calls to Stripe can not be checked: ${why}.`);
  context.timeout(BUILD_LIMIT_MS);
  const { 'stripe-mock': program } = await kubeBinaries(['stripe-mock']);
  const child = spawn(program, ['-http-addr', '127.0.0.1:0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  for await (const line of createInterface({ input: child.stdout })) {
    const address = /Listening for HTTP at address: (\S+)/.exec(line)?.[1];
    if (address === undefined) continue;
    // Nobody reads its further lines: without this it would stand still when the pipe is full.
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
