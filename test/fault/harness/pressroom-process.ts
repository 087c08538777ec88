// One real process of Pressroom (an API, a worker or a controller) with its log and metrics. It can
// be killed, frozen and stopped.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { eventually } from '../../support/eventually.ts';
import { freeze, thaw } from '../../support/freeze.ts';
import { httpCall } from '../../support/http-call.ts';
import { readSamples, type Samples } from './samples.ts';

export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const MAIN = {
  api: 'api/main.ts',
  worker: 'worker/main.ts',
  controller: 'controller/main.ts',
};

/** The time limit of a start on a busy machine. */
const START_MS = 180_000;

/** A log line: `msg` is constant, the rest are its fields. */
export type LogLine = { level: number; msg: string } & Record<string, unknown>;

export interface PressroomProcess {
  readonly name: string;
  readonly pid: number;
  readonly operationsPort: number;
  /** All log lines so far. A line that is not JSON becomes `{ msg: line }`. */
  readonly log: LogLine[];
  /** Resolves with the first line with that message that `kind` accepts, past or future. */
  logLine(msg: string, kind?: (line: LogLine) => boolean): Promise<LogLine>;
  /** The status of `/livez` or `/readyz` on its operations port; 0 without an answer. */
  probe(path: '/livez' | '/readyz'): Promise<number>;
  untilReady(): Promise<void>;
  metrics(): Promise<Samples>;
  /** Its peak and current memory. */
  memory(): Promise<{ peakBytes: number; nowBytes: number }>;
  freeze(): Promise<void>;
  thaw(): void;
  /** Sends a signal (default: SIGKILL). Resolves with the exit code when the process has ended. */
  kill(signal?: NodeJS.Signals): Promise<number | null>;
  readonly exited: Promise<number | null>;
  alive(): boolean;
}

const running = new Set<PressroomProcess>();
// An interrupted run must not leave processes behind.
process.on('exit', () => {
  for (const each of running) each.kill().catch(() => {});
});

/** Variables for memory and the compile cache, with which Pressroom and these tests start. */
const NODE_FLAGS = process.execArgv.filter(flag => flag.includes('semi-space-size='));
const INHERITED = [
  'PATH',
  'HOME',
  'TMPDIR',
  'MALLOC_ARENA_MAX',
  'NODE_COMPILE_CACHE',
  'PRESSROOM_CHROME',
  'PRESSROOM_TEST_RUN',
];

/**
 * Starts it with this environment only. Does not wait: see `untilReady`. `root` is the folder with
 * its code: this repository, or a copy of another version.
 */
export function startPressroom(
  kind: keyof typeof MAIN,
  name: string,
  operationsPort: number,
  env: Record<string, string>,
  root = ROOT,
): PressroomProcess {
  const inherited = INHERITED.map(variable => [variable, process.env[variable]]).filter(
    ([, value]) => value !== undefined,
  );
  const child = spawn(process.execPath, [...NODE_FLAGS, join(root, MAIN[kind])], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...Object.fromEntries(inherited),
      PRESSROOM_OPERATIONS_HOST: '127.0.0.1',
      PRESSROOM_OPERATIONS_PORT: String(operationsPort),
      ...env,
    },
  });
  const log: LogLine[] = [];
  let notify = () => {};
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on('line', line => {
      log.push(line.startsWith('{') ? JSON.parse(line) : { level: 0, msg: line });
      notify();
    });
  let [alive, killed] = [true, false];
  const exited = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      alive = false;
      if (!killed)
        console.error(
          `${name} ended by itself (${signal ?? `exit code ${code}`}):\n${lastWords()}`,
        );
      running.delete(self);
      notify();
      resolve(code);
    });
  });
  const lastWords = () =>
    log
      .slice(-5)
      .map(line => JSON.stringify(line))
      .join('\n');

  const self: PressroomProcess = {
    name,
    pid: child.pid!,
    operationsPort,
    log,
    exited,
    alive: () => alive,
    logLine: (msg, kind = () => true) =>
      new Promise((resolve, reject) => {
        const before = notify;
        notify = () => {
          before();
          const line = log.find(each => each.msg === msg && kind(each));
          if (line) resolve(line);
          else if (!alive)
            reject(new Error(`${name} ended without saying "${msg}":\n${lastWords()}`));
        };
        notify();
      }),
    probe: async path => {
      try {
        return (await httpCall(operationsPort, 'GET', path)).status;
      } catch {
        return 0;
      }
    },
    untilReady: async () => {
      await eventually(async () => {
        if (alive && (await self.probe('/readyz')) !== 200)
          throw new Error(`${name} is not ready:\n${lastWords()}`);
      }, START_MS);
      if (!alive) throw new Error(`${name} ended at its start:\n${lastWords()}`);
    },
    metrics: async () =>
      readSamples((await httpCall(operationsPort, 'GET', '/metrics')).body.toString()),
    memory: async () => {
      const { readFile } = await import('node:fs/promises');
      const text = await readFile(`/proc/${child.pid}/status`, 'utf8');
      const field = (key: string) =>
        Number(new RegExp(`^${key}:\\s+(\\d+) kB`, 'm').exec(text)?.[1]) * 1_024;
      return { peakBytes: field('VmHWM'), nowBytes: field('VmRSS') };
    },
    freeze: () => freeze(child.pid!),
    thaw: () => thaw(child.pid!),
    kill: (signal = 'SIGKILL') => {
      killed = true;
      if (alive) child.kill(signal);
      return exited;
    },
  };
  running.add(self);
  return self;
}
