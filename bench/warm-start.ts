// Runs `npm start` as from a shell, optionally with an existing data folder, and measures the time
// until it is ready.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ownPort } from '../test/fault/harness/ports.ts';
import { httpCall, renderCall } from '../test/support/http-call.ts';
import type { AtEnd } from './script.ts';

const ROOT = join(import.meta.dirname, '..');
const HTML = '<h1>Hello</h1>';
/** Startup time limit with everything installed. */
const START_MS = 60_000;
const STOP_MS = 30_000;
const ASK_EVERY_MS = 5;

export interface Started {
  /** Time from the spawn of npm until `/readyz` returns 200. */
  readyMs: number;
  /** The part of it in the Pressroom process, as logged; the rest is npm and the launcher. */
  ownMs: number;
  /** The API key printed at the first start. */
  key: string | undefined;
  /** Renders and returns the duration. Throws if the response is not a PDF. */
  renderMs(key: string): Promise<number>;
  stop(): Promise<void>;
}

/** Without the variables that npm adds for scripts. */
function personsEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(npm_|MONGODB_URI$|NODE_COMPILE_CACHE$)/.test(name),
  );
  const folders = (process.env.PATH ?? '')
    .split(delimiter)
    .filter(folder => !folder.includes('node_modules'));
  return { ...Object.fromEntries(kept), PATH: folders.join(delimiter) };
}

/** Sends SIGINT to the process group; resolves when all processes have ended. */
async function stop(npm: ChildProcess): Promise<void> {
  if (npm.exitCode !== null || npm.signalCode !== null) return;
  const gone = once(npm, 'close');
  process.kill(-npm.pid!, 'SIGINT');
  const timer = setTimeout(() => process.kill(-npm.pid!, 'SIGKILL'), STOP_MS);
  await gone;
  clearTimeout(timer);
}

/** Starts it and resolves when it is ready. `atEnd` receives its stop function. */
export async function startWith(dataDir: string, atEnd: AtEnd): Promise<Started> {
  const [port, operations] = [await ownPort(), await ownPort()];
  const began = performance.now();
  const npm = spawn('npm', ['start'], {
    cwd: ROOT,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...personsEnvironment(),
      PRESSROOM_DATA_DIR: dataDir,
      PRESSROOM_HOST: '127.0.0.1',
      PRESSROOM_PORT: String(port),
      PRESSROOM_OPERATIONS_PORT: String(operations),
    },
  });
  atEnd(() => stop(npm));
  let output = '';
  for (const stream of [npm.stdout, npm.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk;
    });
  const isReady = () =>
    httpCall(port, 'GET', '/readyz').then(
      ({ status }) => status === 200,
      () => false,
    );
  while (!(await isReady())) {
    if (npm.exitCode !== null || performance.now() - began > START_MS)
      throw new Error(`npm start is not ready: ${output}`);
    await sleep(ASK_EVERY_MS);
  }
  const readyMs = performance.now() - began;
  /** The message may follow shortly after the port is ready. */
  const spoken = async (pattern: RegExp) => {
    while (!pattern.test(output) && performance.now() - began < START_MS) await sleep(ASK_EVERY_MS);
    return pattern.exec(output)?.[1];
  };
  return {
    readyMs,
    ownMs: Number(await spoken(/ after ([\d.]+) s/)) * 1_000,
    key: /shown only once\): (\S+)/.exec(output)?.[1],
    async renderMs(key) {
      const sent = performance.now();
      const { status, body } = await renderCall(port, key, { html: HTML });
      if (status !== 200) throw new Error(`${status}: ${body}`);
      return performance.now() - sent;
    },
    stop: () => stop(npm),
  };
}
