// Starts services in order and stops them in reverse under one deadline; readiness falls first; a second signal ends at once.
import type { Server } from 'node:net';
import { exitAfter, type Log } from './log.ts';

export interface Service {
  name: string;
  /** `giveUp` aborts when the process is told to stop meanwhile, and never later: a start that waits for something then rejects. */
  start(giveUp?: AbortSignal): Promise<void>;
  /** Ends it. `hurry` aborts when the deadline has passed: what still waits then gives up. Called once, only after a start that succeeded. */
  stop(hurry: AbortSignal): Promise<void>;
}

export type LifecycleState = 'new' | 'starting' | 'running' | 'stopping' | 'stopped';

export interface Lifecycle {
  state(): LifecycleState;
  /** Starts all in order. When one fails, those already started are stopped and the error is thrown. */
  start(): Promise<void>;
  /** Stops in reverse; calling it again gives the same promise. True when everything stopped inside the deadline without an error. */
  stop(): Promise<boolean>;
}

export function createLifecycle(log: Log, stopMs: number, services: Service[]): Lifecycle {
  let state: LifecycleState = 'new';
  let stopping: Promise<boolean> | undefined;
  let starting: Promise<void> = Promise.resolve();
  /** Of the service that starts now. */
  let giveUp = new AbortController();
  const started: Service[] = [];

  const enter = (next: LifecycleState) => {
    log.debug({ from: state, to: next }, 'lifecycle');
    state = next;
  };

  async function stopAll(): Promise<boolean> {
    // Those that have started are told to stop in their order, by `stop` alone.
    if (state !== 'running') giveUp.abort();
    enter('stopping');
    const hurry = AbortSignal.timeout(stopMs);
    let clean = true;
    await starting.catch(() => {});
    for (const service of started.reverse()) {
      try {
        await service.stop(hurry);
      } catch (error) {
        clean = false;
        log.error({ err: error, service: service.name }, 'a service did not stop cleanly');
      }
    }
    enter('stopped');
    return clean && !hurry.aborted;
  }

  const stop = () => {
    stopping ??= stopAll();
    return stopping;
  };

  async function startAll(): Promise<void> {
    enter('starting');
    for (const service of services) {
      if (giveUp.signal.aborted) return;
      giveUp = new AbortController();
      try {
        await service.start(giveUp.signal);
      } catch (error) {
        if (giveUp.signal.aborted) return;
        const { message, stack } = error as Error;
        // Not as its cause: the log would write the sentence twice.
        throw Object.assign(new Error(`${service.name} did not start: ${message}`), { stack });
      }
      started.push(service);
    }
    if (!giveUp.signal.aborted) enter('running');
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
 * Runs a process until SIGTERM or SIGINT: starts, waits, stops, sets the exit code (0 when clean). A second signal exits with 1 at once.
 * `onStop` also hears of the end of the process's parent where there is one (see standalone).
 */
export async function runUntilSignal(log: Log, lifecycle: Lifecycle, alsoOn?: Promise<string>): Promise<void> {
  let heard = false;
  const first = Promise.withResolvers<string>();
  const onSignal = (signal: string) => {
    if (heard) {
      log.warn({ signal }, 'second signal, ending at once');
      return void exitAfter(log, 1);
    }
    heard = true;
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
 * Resolves when the server listens, rejects when it cannot. Its later errors (no file descriptors left for a connection, say) go to `onError`:
 * unheard, they would end the process.
 */
export async function listen(server: Server, port: number, host: string, onError: (error: Error) => void): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  server.on('error', onError);
}

/** Waits for the end of `work` while a service stops, but no longer than until `hurry` aborts. Rejects as `work` does. */
export async function unlessHurried(work: Promise<unknown> | undefined, hurry: AbortSignal): Promise<void> {
  const hurried = Promise.withResolvers<void>();
  const onHurry = () => hurried.resolve();
  hurry.addEventListener('abort', onHurry);
  if (hurry.aborted) onHurry();
  try {
    await Promise.race([work, hurried.promise]);
  } finally {
    hurry.removeEventListener('abort', onHurry);
  }
}
