// The slot port's fake: slots open at once unless told otherwise, and end when the test says so.
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
  /** Ends the slot under whoever works on it. */
  end(reason: SlotEndReason): void;
  /** What a page that never finishes does: rejects with SlotLost when the slot ends, else waits. */
  work(): Promise<never>;
}

export interface FakeSlots {
  openSlot: OpenSlot<FakeSession>;
  /** The worker of each attempt, failed ones included. */
  attempts: string[];
  /** Attempts that have not answered yet. */
  inFlight(): number;
  /** The next slot that opens, or the oldest that no one asked for yet. */
  next(): Promise<FakeSession>;
  /** How many slots opened that no one asked for with `next`. */
  unclaimed(): number;
  failNext(error: Error, times?: number): void;
  /**
   * Attempts from now on answer only when the returned function is called; `deaf` ones also when
   * the caller has gone away.
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
  let gate: Promise<void> = Promise.resolve();
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
        await Promise.race([gate, aborted.promise]);
      } finally {
        inFlight--;
      }
      const failure = failures.shift();
      if (failure) throw failure;
      const session = createSession(worker, ticket);
      const asker = receivers.shift();
      if (asker) asker(session);
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
      const held = Promise.withResolvers<void>();
      gate = held.promise;
      return () => {
        gate = Promise.resolve();
        held.resolve();
      };
    },
  };
}

/** A worker's word on itself, for rosters and status servers. */
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
