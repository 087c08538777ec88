// A dispatcher with a real worker registry and queue, fake slots and a mocked clock.
import { mock } from 'node:test';
import {
  Dispatcher,
  type DispatcherOptions,
  type DispatchPhase,
  type Job,
} from '../../api/queue/dispatcher.ts';
import { WorkerRegistry, type WorkerRegistryOptions } from '../../api/workers/registry.ts';
import { createMetrics, type Metrics } from '../../common/operations.ts';
import { createFakeSlots, type FakeSession, type FakeSlots } from './fake-slots.ts';

export interface Call<T> {
  answer: Promise<T>;
  abort(reason: unknown): void;
  phases: DispatchPhase[];
}

export interface DispatchFixture {
  registry: WorkerRegistry;
  slots: FakeSlots;
  metrics: Metrics;
  dispatch: Dispatcher<FakeSession>;
  /** Dispatches a render of `accountId`. Without `work`, the render never finishes. */
  call<T = never>(
    accountId: string,
    work?: (session: FakeSession) => Promise<T>,
    job?: Partial<Job>,
  ): Call<T>;
  close(): void;
}

export function createDispatchFixture(
  queue: Partial<DispatcherOptions<FakeSession>['queue']> = {},
  options: WorkerRegistryOptions = {},
): DispatchFixture {
  mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_000_000 });
  const registry = new WorkerRegistry(options);
  const slots = createFakeSlots();
  const metrics = createMetrics({ processDefaults: false });
  const dispatch = new Dispatcher<FakeSession>({
    queue: {
      maxLength: 1_000,
      maxBytes: 2 ** 28,
      waitMs: 30_000,
      waitWithoutWorkersMs: 120_000,
      ...queue,
    },
    workers: registry,
    openSlot: slots.openSlot,
    secret: 'the secret of the pool',
    pool: 'default',
    metrics,
    now: () => Date.now(),
  });
  const calls: AbortController[] = [];
  return {
    registry,
    slots,
    metrics,
    dispatch,
    call<T>(
      accountId: string,
      work = (session: FakeSession) => session.work() as Promise<T>,
      job: Partial<Job> = {},
    ): Call<T> {
      const controller = new AbortController();
      calls.push(controller);
      const phases: DispatchPhase[] = [];
      const defaults = {
        accountId,
        trial: false,
        bytes: 1,
        renderId: `render of ${accountId}`,
        egress: 'public' as const,
        maxMs: 60_000,
      };
      const answer = dispatch.dispatch(
        { ...defaults, signal: controller.signal, ...job },
        work,
        phase => phases.push(phase),
      );
      answer.catch(() => {}); // prevents an unhandled rejection before the test awaits it
      return { answer, abort: reason => controller.abort(reason), phases };
    },
    close() {
      for (const controller of calls) controller.abort();
      registry.close();
      mock.timers.reset();
    },
  };
}

/** Returns the rejection of a promise. Throws when the promise resolves. */
export async function failureOf(
  promise: Promise<unknown>,
): Promise<Error & { code?: string; reason?: string; headers?: Record<string, string> }> {
  return promise.then(
    value => {
      throw new Error(`the promise resolved with ${String(value)}`);
    },
    error => error,
  );
}
