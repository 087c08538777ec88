// A worker of a test's own: real Chrome, real guard, a gateway on a free port of loopback, inside
// the test's process.
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
const UNTIL_MS = 10_000;

export interface TestWorker {
  worker: Worker;
  lifecycle: Lifecycle;
  metrics: Metrics;
  address: string;
  ticket(changes?: Partial<Ticket>): string;
  /** Claims a slot as an API does. */
  open(changes?: Partial<Ticket>, signal?: AbortSignal): Promise<Session>;
  /** Closes the sockets that `open` would use again. */
  dropKept(): void;
  /** Resolves when the status has all of `wanted`; rejects after 10 s with what it was. */
  until(wanted: Partial<WorkerStatus>): Promise<void>;
  /** SIGKILL to the Chromes of all slots. */
  killChromes(): Promise<void>;
  stop(): Promise<boolean>;
}

/** `env` is the worker's environment over the tests' defaults (two slots, a free port). */
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
  const fits = (wanted: Partial<WorkerStatus>) =>
    Object.entries(wanted).every(
      ([name, value]) => worker.status()[name as keyof WorkerStatus] === value,
    );
  return {
    worker,
    lifecycle,
    metrics,
    address,
    ticket,
    open: (changes, signal = AbortSignal.timeout(UNTIL_MS)) =>
      openSession(connections)(address, ticket(changes), signal),
    dropKept: () => connections.drop(address),
    until: wanted =>
      eventually(() => {
        if (!fits(wanted))
          throw new Error(
            `the worker is ${JSON.stringify(worker.status())}, wanted ${JSON.stringify(wanted)}`,
          );
      }),
    killChromes: async () => {
      const before = worker.chromes();
      for (const chrome of before) chrome.kill();
      await eventually(() => {
        if (worker.chromes().some(chrome => before.includes(chrome)))
          throw new Error('a killed Chrome still serves');
      });
    },
    stop: async () => {
      await connections.stop(AbortSignal.timeout(1_000));
      return lifecycle.stop();
    },
  };
}

/** The value of an expression in the page. */
export const evaluate = async (session: Session, expression: string) =>
  (
    await session.command('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      returnByValue: true,
    })
  ).result.value;

/** What a promise was rejected with, or undefined. */
export const errorOf = (work: Promise<unknown>): Promise<Error | undefined> =>
  work.then(
    () => undefined,
    error => error,
  );
