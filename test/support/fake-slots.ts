// A fake of the slot port. Slots open immediately unless held, and end when the test ends them.
import {
  type OpenSlot,
  type SlotEndReason,
  SlotLost,
  type SlotSession,
} from '../../api/workers/slot-port.ts';
import { PROTOCOL, type WorkerStatus } from '../../common/protocol.ts';

export interface FakeSession extends SlotSession {
  readonly ticket: string;
  readonly isClosed: boolean;
  /** Ends the slot while a render uses it. */
  end(reason: SlotEndReason): void;
  /** A page that never finishes. Rejects with SlotLost when the slot ends. */
  work(): Promise<never>;
}

export interface FakeSlots {
  openSlot: OpenSlot<FakeSession>;
  /** The worker of each attempt, including failed ones. */
  attempts: string[];
  /** Number of attempts without a result yet. */
  inFlight(): number;
  /** The oldest slot that `next` has not returned yet, or the next one that opens. */
  next(): Promise<FakeSession>;
  /** Number of open slots that `next` has not returned. */
  unclaimed(): number;
  failNext(error: Error, times?: number): void;
  /**
   * Delays later attempts until the returned function is called. With `ignoresAbort`, an aborted
   * attempt is delayed too.
   */
  hold(how?: { ignoresAbort: boolean }): () => void;
}

function createSession(worker: string, ticket: string): FakeSession {
  const ended = Promise.withResolvers<Awaited<SlotSession['ended']>>();
  let isClosed = false;
  const end = (reason: SlotEndReason) =>
    ended.resolve({ reason, message: `the test ended it: ${reason}` } as never);
  return {
    frameId: 'frame',
    worker,
    ticket,
    ended: ended.promise,
    get isClosed() {
      return isClosed;
    },
    end,
    close() {
      isClosed = true;
      end('closed');
    },
    async abandon() {
      this.close();
    },
    work: async () => {
      const { reason, message } = await ended.promise;
      throw new SlotLost(reason, message);
    },
  };
}

export function createFakeSlots(): FakeSlots {
  const attempts: string[] = [];
  const failures: Error[] = [];
  const opened: FakeSession[] = [];
  const receivers: ((session: FakeSession) => void)[] = [];
  let held: Promise<void> = Promise.resolve();
  let inFlight = 0;
  let deaf = false;

  return {
    attempts,
    inFlight: () => inFlight,
    unclaimed: () => opened.length,
    async openSlot(worker, ticket, signal) {
      attempts.push(worker);
      inFlight++;
      const aborted = Promise.withResolvers<never>();
      aborted.promise.catch(() => {});
      if (!deaf) signal.addEventListener('abort', () => aborted.reject(signal.reason));
      try {
        await Promise.race([held, aborted.promise]);
      } finally {
        inFlight--;
      }
      const failure = failures.shift();
      if (failure) throw failure;
      const session = createSession(worker, ticket);
      const receiver = receivers.shift();
      if (receiver) receiver(session);
      else opened.push(session);
      return session;
    },
    next() {
      const session = opened.shift();
      return session ? Promise.resolve(session) : new Promise(resolve => receivers.push(resolve));
    },
    failNext(error, times = 1) {
      for (let i = 0; i < times; i++) failures.push(error);
    },
    hold(how = { ignoresAbort: false }) {
      deaf = how.ignoresAbort;
      const release = Promise.withResolvers<void>();
      held = release.promise;
      return () => {
        held = Promise.resolve();
        release.resolve();
      };
    },
  };
}

/** A status report, for worker registries and status servers. */
export function workerStatus(
  ready: number,
  { busy = 0, more = {} }: { busy?: number; more?: Partial<WorkerStatus> } = {},
): WorkerStatus {
  const base = {
    protocol: PROTOCOL,
    pool: 'default',
    capacity: ready + busy,
    ready,
    busy,
    draining: false,
  };
  return { ...base, chrome: 'up', chromeVersion: 'Chrome/156', ...more };
}
