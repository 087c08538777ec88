// One program that the tests start and that ends with them, however they end. Owns the process and
// its log file.
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { freeze, thaw } from '../../support/freeze.ts';

export interface LeashedProcess {
  readonly name: string;
  readonly pid: number;
  /** What it has written, to stdout and stderr. */
  readonly logFile: string;
  alive(): boolean;
  /** The last lines of its log. */
  lastWords(): string;
  /** Stands still until `thaw`. Resolves when every thread does. */
  freeze(): Promise<void>;
  thaw(): void;
  /** Resolves when it is gone; SIGKILL unless told otherwise, which ends one that is frozen too. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  readonly exited: Promise<void>;
}

const WORDS = 8;

/**
 * Its environment is `env`, PATH and the mark by which the tests find what they have left behind.
 */
export function startLeashed(
  name: string,
  [program, ...args]: readonly [string, ...string[]],
  logFile: string,
  env: Record<string, string> = {},
): LeashedProcess {
  const log = openSync(logFile, 'a');
  const mark = process.env.PRESSROOM_TEST_RUN;
  // The kernel sends the signal when our main thread ends, from which this is called: a handler of
  // ours would not run after SIGKILL.
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', '--', program, ...args], {
    stdio: ['ignore', log, log],
    env: { PATH: process.env.PATH ?? '', ...(mark && { PRESSROOM_TEST_RUN: mark }), ...env },
  });
  closeSync(log);
  let alive = true;
  let failure = '';
  const exited = new Promise<void>(resolve => {
    const over = () => {
      alive = false;
      resolve();
    };
    child.once('close', over);
    child.once('error', error => {
      failure = error.message;
      over();
    });
  });
  return {
    name,
    pid: child.pid ?? 0,
    logFile,
    exited,
    alive: () => alive,
    lastWords: () =>
      failure || readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-WORDS).join('\n'),
    freeze: () => freeze(child.pid!),
    thaw: () => thaw(child.pid!),
    kill: async (signal = 'SIGKILL') => {
      if (alive) child.kill(signal);
      await exited;
    },
  };
}
