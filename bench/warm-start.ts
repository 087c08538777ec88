// `npm start` as a person types it, on a data folder that may exist already, and what it takes
// until it serves.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ownPort } from '../test/fault/harness/ports.ts';
import { httpCall, renderCall } from '../test/support/http-call.ts';

const ROOT = join(import.meta.dirname, '..');
const HTML = '<h1>Hello</h1>';
/** The longest that a start may take when all that it needs is there. */
const START_MS = 60_000;
const STOP_MS = 30_000;
const ASK_EVERY_MS = 5;

export interface Started {
  /** From the spawn of npm until `/readyz` answers 200. */
  readyMs: number;
  /**
   * How much of that the process of Pressroom itself took, by its own word; the rest is npm and the
   * launcher.
   */
  ownMs: number;
  /** The key that a first start shows. */
  key: string | undefined;
  /** A render; gives what it took. Throws when the answer is no PDF. */
  renderMs(key: string): Promise<number>;
  stop(): Promise<void>;
}

/** Without what npm adds when it runs this script: a person's shell does not have it. */
function personsEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(npm_|MONGODB_URI$|NODE_COMPILE_CACHE$)/.test(name),
  );
  const folders = (process.env.PATH ?? '')
    .split(delimiter)
    .filter(folder => !folder.includes('node_modules'));
  return { ...Object.fromEntries(kept), PATH: folders.join(delimiter) };
}

/** As Ctrl-C in a terminal; resolves when all of it has ended. */
async function stop(npm: ChildProcess): Promise<void> {
  if (npm.exitCode !== null || npm.signalCode !== null) return;
  const gone = once(npm, 'close');
  process.kill(-npm.pid!, 'SIGINT');
  const timer = setTimeout(() => process.kill(-npm.pid!, 'SIGKILL'), STOP_MS);
  await gone;
  clearTimeout(timer);
}

/** Starts it; resolves when it is ready. `atEnd` hears how it is ended. */
export async function startWith(
  dataDir: string,
  atEnd: (close: () => Promise<unknown>) => void,
): Promise<Started> {
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
  let said = '';
  for (const stream of [npm.stdout, npm.stderr])
    stream.on('data', (chunk: Buffer) => {
      said += chunk;
    });
  const isReady = () =>
    httpCall(port, 'GET', '/readyz').then(
      ({ status }) => status === 200,
      () => false,
    );
  while (!(await isReady())) {
    if (npm.exitCode !== null || performance.now() - began > START_MS)
      throw new Error(`npm start is not ready: ${said}`);
    await sleep(ASK_EVERY_MS);
  }
  const readyMs = performance.now() - began;
  /** The sentence may come a moment after the port is ready. */
  const spoken = async (pattern: RegExp) => {
    while (!pattern.test(said) && performance.now() - began < START_MS) await sleep(ASK_EVERY_MS);
    return pattern.exec(said)?.[1];
  };
  return {
    readyMs,
    ownMs: Number(await spoken(/ after ([\d.]+) s/)) * 1_000,
    key: /shown only once\): (\S+)/.exec(said)?.[1],
    async renderMs(key) {
      const sent = performance.now();
      const { status, body } = await renderCall(port, key, { html: HTML });
      if (status !== 200) throw new Error(`${status}: ${body}`);
      return performance.now() - sent;
    },
    stop: () => stop(npm),
  };
}
