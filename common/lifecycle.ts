// Starts services in order and stops them in reverse under one deadline; readiness falls first; a
// second signal ends at once.
import type { Server } from 'node:net';
import { exitAfter, type Log } from './log.ts';

export interface Service {
  name: string;
  /**
   * `signal` aborts when the process must stop meanwhile, and never later: a start that waits for
   * something then rejects.
   */
  start(signal?: AbortSignal): Promise<void>;
  /**
   * Ends it. `deadline` aborts when the time is up: what still waits then is aborted. Called once,
   * only after a start that succeeded.
   */
  stop(deadline: AbortSignal): Promise<void>;
}

export type LifecycleState = 'new' | 'starting' | 'running' | 'stopping' | 'stopped';

export interface Lifecycle {
  state(): LifecycleState;
  /**
   * Starts all in order. When one fails, those already started are stopped and the error is thrown.
   */
  start(): Promise<void>;
  /**
   * Stops in reverse; calling it again returns the same promise. True when everything stopped
   * inside the deadline without an error.
   */
  stop(): Promise<boolean>;
}

export function createLifecycle(log: Log, stopMs: number, services: Service[]): Lifecycle {
  let state: LifecycleState = 'new';
  let stopping: Promise<boolean> | undefined;
  let starting: Promise<void> = Promise.resolve();
  /** Aborts the start of the service that starts now. */
  let aborter = new AbortController();
  const started: Service[] = [];

  const enter = (next: LifecycleState) => {
    log.debug({ from: state, to: next }, 'lifecycle');
    state = next;
  };

  async function stopAll(): Promise<boolean> {
    // Services that have started are stopped in their order, by `stop` alone.
    if (state !== 'running') aborter.abort();
    enter('stopping');
    const deadline = AbortSignal.timeout(stopMs);
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
    return clean && !deadline.aborted;
  }

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
        // Not as its cause: the log would write the sentence twice.
        throw Object.assign(new Error(`${service.name} did not start: ${message}`), { stack });
      }
      started.push(service);
    }
    if (!aborter.signal.aborted) enter('running');
  }

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

/**
 * Runs a process until SIGTERM or SIGINT: starts, waits, stops, sets the exit code (0 when clean).
 * A second signal exits with 1 at once. `alsoOn` resolves with another reason to stop (see
 * standalone).
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
      log.warn({ signal }, 'second signal, ending at once');
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
 * Resolves when the server listens, rejects when it cannot. Its later errors (no file descriptors
 * left for a connection, say) go to `onError`: without a listener, they would end the process.
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

/**
 * Waits for the end of `work` while a service stops, but no longer than until `deadline` aborts.
 * Rejects as `work` does.
 */
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
