// A program that always ends with the test process. Owns the process and its log file.
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { freeze, thaw } from '../../support/freeze.ts';

export interface LeashedProcess {
  readonly name: string;
  readonly pid: number;
  /** The file with its stdout and stderr. */
  readonly logFile: string;
  alive(): boolean;
  /** The last lines of its log. */
  logTail(): string;
  /** Freezes the process until `thaw`. Resolves when every thread is stopped. */
  freeze(): Promise<void>;
  thaw(): void;
  /** Resolves when it has ended. SIGKILL by default, which also ends a frozen process. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  readonly exited: Promise<void>;
}

const TAIL_LINES = 8;

/**
 * Starts a program with `env`, PATH and the variable by which the tests find leftover processes.
 */
export function startLeashed(
  name: string,
  [program, ...args]: readonly [string, ...string[]],
  logFile: string,
  env: Record<string, string> = {},
): LeashedProcess {
  const log = openSync(logFile, 'a');
  const mark = process.env.PRESSROOM_TEST_RUN;
  // The kernel sends the signal when the main thread ends, from which this is called. A handler in
  // this process would not run after SIGKILL.
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
    logTail: () =>
      failure || readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-TAIL_LINES).join('\n'),
    freeze: () => freeze(child.pid!),
    thaw: () => thaw(child.pid!),
    kill: async (signal = 'SIGKILL') => {
      if (alive) child.kill(signal);
      await exited;
    },
  };
}
