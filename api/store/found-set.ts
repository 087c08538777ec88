// A program beside the bundled mongod of the chart, in the same pod: makes a fresh one a replica set with its user, which it lets only its own machine do, then waits
// to be stopped. After a restart it finds all done.
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { ConfigError, readConfig, secret, text } from '../../common/config.ts';
import { createLog } from '../../common/log.ts';
import { isDatabaseUnavailable } from './failures.ts';
import { readyReplicaSet } from './replica-set-initiation.ts';

const LOOK_AGAIN_MS = 500;

const variables = z.object({
  MONGODB_MEMBER: text(undefined, 'host:port').describe('Where clients find the member.'),
  MONGODB_PASSWORD: secret(16).describe("The user's password."),
});

function required(env: NodeJS.ProcessEnv): { member: string; port: number; password: string } {
  const { MONGODB_MEMBER: member, MONGODB_PASSWORD: password } = readConfig(variables, env);
  if (member === undefined || password === undefined) throw new ConfigError('MONGODB_MEMBER and MONGODB_PASSWORD are needed');
  const port = Number(/^[^:]+:(\d+)$/.exec(member)?.[1]);
  if (!port) throw new ConfigError(`MONGODB_MEMBER=${member}: must be host:port`);
  return { member, port, password };
}

const log = createLog('info', 'found-set');
const stopped = new AbortController();
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stopped.abort());

try {
  const { member, port, password } = required(process.env);
  while (!stopped.signal.aborted) {
    try {
      await readyReplicaSet(port, password, false, member);
      log.info({ member }, 'the replica set is ready');
      // A day is as good as any other time: only the signal ends it.
      while (!stopped.signal.aborted) await sleep(86_400_000, undefined, { signal: stopped.signal }).catch(() => {});
    } catch (error) {
      if (!isDatabaseUnavailable(error)) throw error;
      await sleep(LOOK_AGAIN_MS, undefined, { signal: stopped.signal }).catch(() => {});
    }
  }
} catch (error) {
  if (error instanceof ConfigError) console.error(error.message);
  else log.fatal({ err: error }, 'the replica set could not be made');
  process.exitCode = 1;
}
