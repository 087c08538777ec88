// Retries failed writes in the background, bounded in number and time, and flushes them at
// shutdown.
import { untilDeadline } from '../../common/lifecycle.ts';
import type { Log } from '../../common/log.ts';

export interface RetriedWrite {
  what: 'settle' | 'release';
  /** One attempt. Rejects when the result is unknown. Must be safe to repeat. */
  attempt(): Promise<unknown>;
  /** How long the write is retried. */
  forMs: number;
  /** Called when the write is aborted with an unknown result. */
  onAborted?(): void;
  /** Identifies the write in the log. */
  fields: { requestId: string; accountId: string; leaseId: string };
}

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;

interface Waiting extends RetriedWrite {
  addedMs: number;
  tries: number;
  timer: NodeJS.Timeout | undefined;
  busy: boolean;
}

/** Holds at most `maxWaiting` writes; one more aborts the oldest. `nowMs` is monotonic. */
export function createRetryQueue(log: Log, maxWaiting: number, nowMs = () => performance.now()) {
  const waiting = new Set<Waiting>();
  let emptied = Promise.withResolvers<void>();
  let flushed = false;

  function done(write: Waiting): void {
    clearTimeout(write.timer);
    waiting.delete(write);
    if (waiting.size === 0) {
      emptied.resolve();
      emptied = Promise.withResolvers();
    }
  }

  function abort(write: Waiting, reason: string): void {
    done(write);
    write.onAborted?.();
    const line = { ...write.fields, tries: write.tries, reason };
    if (write.what === 'settle') log.error(line, 'a render was delivered but could not be counted');
    // An unreleased lease expires within seconds.
    else log.warn(line, 'a lease could not be released and will expire');
  }

  async function attempt(write: Waiting): Promise<void> {
    if (write.busy) return;
    clearTimeout(write.timer);
    write.busy = true;
    write.tries += 1;
    try {
      await write.attempt();
      done(write);
    } catch (error) {
      write.busy = false;
      if (!waiting.has(write)) return;
      if (flushed || nowMs() - write.addedMs >= write.forMs)
        return abort(write, (error as Error).message);
      const pauseMs = Math.min(
        LONGEST_PAUSE_MS,
        FIRST_PAUSE_MS * 2 ** Math.min(write.tries - 1, 10),
      );
      // Jitter, so that a recovered database does not receive all retries at once.
      write.timer = setTimeout(attempt, pauseMs * (0.5 + Math.random() / 2), write);
    }
  }

  return {
    add(write: RetriedWrite): void {
      if (waiting.size >= maxWaiting)
        abort(waiting.values().next().value!, 'too many writes are waiting');
      const entry: Waiting = {
        ...write,
        addedMs: nowMs(),
        tries: 0,
        timer: undefined,
        busy: false,
      };
      waiting.add(entry);
      void attempt(entry);
    },
    /** The number of unfinished writes, in total or of one kind. */
    waiting: (what?: RetriedWrite['what']): number =>
      what === undefined ? waiting.size : [...waiting].filter(write => write.what === what).length,
    /**
     * Attempts all writes immediately and until they succeed or `deadline` aborts. The rest is
     * aborted and logged. A write that is added later is attempted once.
     */
    async flush(deadline: AbortSignal): Promise<void> {
      const promise = waiting.size > 0 ? emptied.promise : undefined;
      for (const write of waiting) void attempt(write);
      await untilDeadline(promise, deadline);
      flushed = true;
      for (const write of [...waiting]) abort(write, 'the process is shutting down');
    },
  };
}
export type RetryQueue = ReturnType<typeof createRetryQueue>;
