// Runs mocha in its own process and returns its result.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { cacheFolder } from '../../standalone/cache.ts';
import type { RunNumbers } from './reporter.ts';

export interface MochaResult {
  code: number;
  /** Undefined when it ended before its first test. */
  numbers: RunNumbers | undefined;
}

export interface MochaOptions {
  /** Chrome's executable. */
  chrome: string;
  /** Files and options of mocha. */
  args: readonly string[];
  /** Interrupts it when aborted, and kills it if its hooks then take too long. */
  limit?: AbortSignal;
  /** When given, its output is piped and each line is prefixed with this number. */
  lane?: number;
}

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

/** Go takes half a minute to compile its own packages for the client programs of the tests. */
const GO_CACHE = join(cacheFolder(process.env), 'go-cache');

/** How long the hooks of an interrupted run may take. */
const CLEAN_UP_MS = 15_000;

/** Prefixes each line with the number of its lane, since the lines of the lanes alternate. */
function printLines(lane: number, output: Readable): void {
  createInterface({ input: output }).on('line', line =>
    process.stdout.write(`${lane} | ${line}\n`),
  );
}

/** The first signal interrupts mocha, which then runs its hooks; the second one kills it. */
function passSignalsOn(child: ReturnType<typeof spawn>, limit?: AbortSignal): void {
  let asked = false;
  const interrupt = () => {
    child.kill(asked ? 'SIGKILL' : 'SIGINT');
    asked = true;
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, interrupt);
    child.once('close', () => process.off(signal, interrupt));
  }
  limit?.addEventListener('abort', () => {
    interrupt();
    setTimeout(interrupt, CLEAN_UP_MS).unref();
  });
}

export async function runMocha({ chrome, args, limit, lane }: MochaOptions): Promise<MochaResult> {
  const output = lane === undefined ? 'inherit' : 'pipe';
  const child = spawn(
    process.execPath,
    [
      path('../../node_modules/mocha/bin/mocha.js'),
      '--exit',
      '--reporter',
      path('reporter.ts'),
      ...args,
    ],
    {
      cwd: path('../..'),
      stdio: ['ignore', output, output, 'ipc'],
      env: { GOCACHE: GO_CACHE, ...process.env, PRESSROOM_CHROME: chrome },
    },
  );
  for (const each of [child.stdout, child.stderr]) if (each) printLines(lane!, each);
  passSignalsOn(child, limit);
  let numbers: RunNumbers | undefined;
  child.on('message', message => {
    numbers = message as RunNumbers;
  });
  const code = await new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', code => resolve(code ?? 1));
  });
  return { code, numbers };
}
