// Starts services in order and stops them in reverse order within one deadline. A second signal
// exits immediately. Owns what services have in common: a listener, a task that is repeated.
import type { Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { exitAfter, type Log } from './log.ts';

export interface Service {
  name: string;
  /** `signal` aborts when the process must stop during this start, which must then reject. */
  start(signal?: AbortSignal): Promise<void>;
  /**
   * Stops the service. When `deadline` aborts, pending work must be aborted. Called once, after a
   * successful start.
   */
  stop(deadline: AbortSignal): Promise<void>;
}

export const LIFECYCLE_STATES = ['new', 'starting', 'running', 'stopping', 'stopped'] as const;
export type LifecycleState = (typeof LIFECYCLE_STATES)[number];

/** The deadline of a stop comes after `stopMs`, or when `earlyDeadline` aborts. */
export function createLifecycle(
  log: Log,
  stopMs: number,
  services: Service[],
  earlyDeadline: AbortSignal = new AbortController().signal,
) {
  let state: LifecycleState = 'new';
  let stopping: Promise<boolean> | undefined;
  let starting: Promise<void> = Promise.resolve();
  /** Aborts the start of the current service. */
  let aborter = new AbortController();
  const started: Service[] = [];

  const enter = (next: LifecycleState) => {
    log.debug({ from: state, to: next }, 'lifecycle');
    state = next;
  };

  async function stopAll(): Promise<boolean> {
    // Services that have started are stopped by `stop` only.
    if (state !== 'running') aborter.abort();
    enter('stopping');
    // Kept, since `any` does not keep it from being garbage-collected.
    const timeout = AbortSignal.timeout(stopMs);
    const deadline = AbortSignal.any([timeout, earlyDeadline]);
    let clean = true;
    await starting.catch(() => {});
    for (const service of started.reverse()) {
      try {
        await service.stop(deadline);
      } catch (error) {
        clean = false;
        log.error({ err: error, service: service.name }, 'a service did not stop cleanly');
      }
    }
    enter('stopped');
    return clean && !timeout.aborted && !deadline.aborted;
  }

  /**
   * Stops all services in reverse order. Further calls return the same promise. True when all
   * stopped within the deadline without an error.
   */
  const stop = () => {
    stopping ??= stopAll();
    return stopping;
  };

  async function startAll(): Promise<void> {
    enter('starting');
    for (const service of services) {
      if (aborter.signal.aborted) return;
      aborter = new AbortController();
      try {
        await service.start(aborter.signal);
      } catch (error) {
        if (aborter.signal.aborted) return;
        const { message, stack } = error as Error;
        // Not as its cause, because the log would repeat the message.
        throw Object.assign(new Error(`${service.name} did not start: ${message}`), { stack });
      }
      started.push(service);
    }
    if (!aborter.signal.aborted) enter('running');
  }

  /** Starts all services in order. If one fails, stops the started ones and throws the error. */
  async function start(): Promise<void> {
    starting = startAll();
    try {
      await starting;
    } catch (error) {
      await stop();
      throw error;
    }
  }

  return { state: () => state, start, stop };
}
export type Lifecycle = ReturnType<typeof createLifecycle>;

/**
 * Runs a process until SIGTERM or SIGINT: starts, waits, stops and exits (with 0 after a clean
 * stop). A second signal exits immediately with 1. `alsoOn` resolves with another reason to stop.
 */
export async function runUntilSignal(
  log: Log,
  lifecycle: Lifecycle,
  alsoOn?: Promise<string>,
): Promise<void> {
  let signaled = false;
  const first = Promise.withResolvers<string>();
  const onSignal = (signal: string) => {
    if (signaled) {
      log.warn({ signal }, 'second signal, exiting immediately');
      return void exitAfter(log, 1);
    }
    signaled = true;
    first.resolve(signal);
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  void alsoOn?.then(first.resolve);
  const stopped = first.promise.then(reason => {
    log.info({ reason }, 'stopping');
    return lifecycle.stop();
  });
  try {
    await lifecycle.start();
  } catch (error) {
    log.fatal({ err: error }, 'could not start');
    return exitAfter(log, 1);
  }
  const clean = await stopped;
  log.info({ clean }, 'stopped');
  return exitAfter(log, clean ? 0 : 1);
}

/**
 * Resolves when the server listens, and rejects when it cannot. Later errors, such as a lack of file
 * descriptors, go to `onError`; without a listener they would end the process.
 */
export async function listen(
  server: Server,
  port: number,
  host: string,
  onError: (error: Error) => void,
): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  server.on('error', onError);
}

/** Waits until `work` ends or `deadline` aborts. Rejects as `work` does. */
export async function untilDeadline(
  work: Promise<unknown> | undefined,
  deadline: AbortSignal,
): Promise<void> {
  const passed = Promise.withResolvers<void>();
  const onDeadline = () => passed.resolve();
  deadline.addEventListener('abort', onDeadline);
  if (deadline.aborted) onDeadline();
  try {
    await Promise.race([work, passed.promise]);
  } finally {
    deadline.removeEventListener('abort', onDeadline);
  }
}

export interface RepeatedTask {
  name: string;
  /** The mean pause between two runs. The longest is a quarter longer. */
  everyMs: number;
  /** One run. The signal aborts when the service stops. A failed run does not end the next ones. */
  run(signal: AbortSignal): Promise<void>;
  log: Log;
  /** Logged when a run fails. */
  failure: string;
  /** Of that line; `warn` by default. */
  level?: 'warn' | 'debug';
}

/** A service that repeats a task, such as a sweep: first at its start, and once at a time. */
export function repeatedly(task: RepeatedTask): Service {
  const { name, everyMs, run, log, failure, level = 'warn' } = task;
  const stopping = new AbortController();
  const { signal } = stopping;
  let ended: Promise<void> | undefined;

  async function repeat(): Promise<void> {
    while (!signal.aborted) {
      try {
        await run(signal);
      } catch (error) {
        if (!signal.aborted) log[level]({ reason: (error as Error).message }, failure);
      }
      // With jitter, so that processes that started together do not run it together.
      const pauseMs = everyMs * (0.75 + Math.random() / 2);
      await sleep(pauseMs, undefined, { signal }).catch(() => {});
    }
  }

  return {
    name,
    async start() {
      ended = repeat();
    },
    async stop(deadline) {
      stopping.abort();
      await untilDeadline(ended, deadline);
    },
  };
}
