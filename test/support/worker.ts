// A worker in the process of the test, with real Chrome, a real egress guard and a gateway on
// a free loopback port.
import { createConnections } from '../../api/workers/connections.ts';
import { openSession, type Session } from '../../api/workers/session.ts';
import { createLifecycle, type Lifecycle } from '../../common/lifecycle.ts';
import { type Log, silentLog } from '../../common/log.ts';
import { createMetrics, type Metrics } from '../../common/operations.ts';
import type { WorkerStatus } from '../../common/protocol.ts';
import { signTicket, type Ticket } from '../../common/ticket.ts';
import { readWorkerConfig } from '../../worker/config.ts';
import { createWorker, type Worker } from '../../worker/worker.ts';
import { eventually } from './eventually.ts';

export const TEST_SECRET = 'a secret of the tests';
const OPEN_MS = 40_000;

export interface TestWorker {
  worker: Worker;
  lifecycle: Lifecycle;
  metrics: Metrics;
  address: string;
  ticket(changes?: Partial<Ticket>): string;
  /** Claims a slot like an API process: again when a busy machine does not respond in time. */
  open(changes?: Partial<Ticket>, signal?: AbortSignal): Promise<Session>;
  /** Closes the idle connections that `open` would reuse. */
  dropKept(): void;
  /** Resolves when the status matches `expected`, or rejects with the last status (`eventually`). */
  until(expected: Partial<WorkerStatus>): Promise<void>;
  /** Kills the Chromes of all slots with SIGKILL. */
  killChromes(): Promise<void>;
  stop(): Promise<boolean>;
}

/** `env` overrides the defaults of the tests, such as two slots and a free port. */
export async function startWorker(
  env: Record<string, string> = {},
  log: Log = silentLog,
): Promise<TestWorker> {
  const config = readWorkerConfig({
    PATH: process.env.PATH,
    PRESSROOM_CHROME: process.env.PRESSROOM_CHROME,
    PRESSROOM_POOL_SECRET: TEST_SECRET,
    PRESSROOM_GATEWAY_HOST: '127.0.0.1',
    PRESSROOM_GATEWAY_PORT: '0',
    PRESSROOM_SLOTS: '2',
    ...env,
  });
  const metrics = createMetrics({ processDefaults: false });
  const worker = createWorker({ ...config, secret: TEST_SECRET }, log, metrics);
  const lifecycle = createLifecycle(log, 5_000, worker.services);
  await lifecycle.start();
  const connections = createConnections();
  const address = `ws://127.0.0.1:${worker.port()}`;
  const ticket = (changes: Partial<Ticket> = {}) =>
    signTicket(TEST_SECRET, {
      pool: config.pool,
      purpose: 'slot',
      renderId: 'test',
      egress: 'public',
      maxMs: 30_000,
      ...changes,
    });
  const matches = (expected: Partial<WorkerStatus>) =>
    Object.entries(expected).every(
      ([name, value]) => worker.status()[name as keyof WorkerStatus] === value,
    );
  return {
    worker,
    lifecycle,
    metrics,
    address,
    ticket,
    open: async (changes, signal = AbortSignal.timeout(OPEN_MS)) => {
      for (;;)
        try {
          return await openSession(connections)(address, ticket(changes), signal);
        } catch (error) {
          if (!(error as Error).message.includes('did not respond within')) throw error;
        }
    },
    dropKept: () => connections.drop(address),
    until: expected =>
      eventually(() => {
        if (!matches(expected))
          throw new Error(
            `the worker is ${JSON.stringify(worker.status())}, expected ${JSON.stringify(expected)}`,
          );
      }),
    killChromes: async () => {
      const before = worker.chromes();
      for (const chrome of before) chrome.kill();
      await eventually(() => {
        if (worker.chromes().some(chrome => before.includes(chrome)))
          throw new Error('a killed Chrome is still in use');
      });
    },
    stop: async () => {
      await connections.stop(AbortSignal.timeout(1_000));
      return lifecycle.stop();
    },
  };
}

/** Evaluates an expression in the page. */
export const evaluate = async (session: Session, expression: string) =>
  (
    await session.command('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      returnByValue: true,
    })
  ).result.value;

/** Returns the rejection of a promise, or undefined when it resolves. */
export const errorOf = (work: Promise<unknown>): Promise<Error | undefined> =>
  work.then(
    () => undefined,
    error => error,
  );
