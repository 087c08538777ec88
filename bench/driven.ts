// A side that runs an engine in its own process, as the user that Chrome must run as.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readWorkerConfig } from '../worker/config.ts';
import type { Flow } from './closed-loop.ts';
import type { Order, Reply } from './driver.ts';
import type { EngineName } from './engine.ts';
import type { Side } from './side.ts';

const DRIVER = fileURLToPath(new URL('./driver.ts', import.meta.url));
const CLOSE_MS = 20_000;

/** Request-response messages with IDs; response 0 signals readiness. */
function talk(name: EngineName, child: ChildProcess) {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let last = 0;
  const answer = (id: number) => {
    const asked = Promise.withResolvers<unknown>();
    waiting.set(id, asked);
    return asked.promise;
  };
  const started = answer(0);
  child.on('message', ({ id, value, error }: Reply) => {
    const asked = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) asked?.resolve(value);
    else asked?.reject(new Error(error));
  });
  let gone: Error | undefined;
  const lost = (how: string) => {
    gone ??= new Error(`the driver of ${name} ${how}`);
    for (const { reject } of waiting.values()) reject(gone);
    waiting.clear();
  };
  child.once('error', error => lost(`cannot be started: ${error.message}`));
  child.once('exit', (code, signal) =>
    lost(
      `ended (${signal ?? `exit code ${code}`}). The user that Chrome runs as must be able to read this repository and to run its Node.`,
    ),
  );
  const ask = (order: { task: Order['task']; work?: unknown }) => {
    if (gone) return Promise.reject(gone);
    const id = ++last;
    const response = answer(id);
    // Ignores send errors: the exit of the driver gives a better error.
    child.send({ id, ...order }, () => {});
    return response;
  };
  return { started, ask };
}

/** Runs as the user of Pressroom's Chrome, so that the sandbox is the same on all sides. */
export async function openDriven(name: EngineName, base: string): Promise<Side> {
  const { uid, sandbox } = readWorkerConfig(process.env).chrome;
  const folder = await mkdtemp(join(tmpdir(), `pressroom-bench-${name}-`));
  if (uid !== undefined) await chown(folder, uid, uid);
  const { PATH, PRESSROOM_CHROME } = process.env;
  const child = fork(DRIVER, [name, base], {
    cwd: '/',
    execArgv: [], // what this process has loaded before its script is not for a driver
    serialization: 'advanced',
    ...(uid !== undefined && { uid, gid: uid }),
    env: {
      PATH,
      ...(PRESSROOM_CHROME && { PRESSROOM_CHROME }),
      PRESSROOM_CHROME_SANDBOX: sandbox ? 'on' : 'off',
      HOME: folder,
      TMPDIR: folder,
      LANG: 'C.UTF-8',
    },
  });
  const exited = once(child, 'exit');
  const { started, ask } = talk(name, child);
  const close = async () => {
    const timer = setTimeout(() => child.kill('SIGKILL'), CLOSE_MS);
    if (child.connected) await ask({ task: 'close' }).catch(() => {});
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
      await exited;
    clearTimeout(timer);
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    const version = (await started) as string;
    return {
      name,
      version,
      slots: name === 'puppeteer-cluster' ? availableParallelism() : Number.POSITIVE_INFINITY,
      roots: { driver: child.pid! },
      prepare: async work => void (await ask({ task: 'prepare', work })),
      run: async work => (await ask({ task: 'run', work })) as Flow,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
