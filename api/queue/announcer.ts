// Notifies the workers of the renders that wait here while no slot is free for them, so that a
// worker can offer its next slot to the API process whose render has waited longest.
import { createHash } from 'node:crypto';
import { WAITING_MS } from '../../common/protocol.ts';
import type { WorkerRegistry } from '../workers/registry.ts';
import type { FairQueue, Queued } from './fair-queue.ts';

interface AnnouncedJob extends Queued {
  readonly avoid: ReadonlySet<string> | undefined;
}

interface AnnouncerOptions {
  queue: Pick<FairQueue<AnnouncedJob>, 'next' | 'waiting'>;
  workers: Pick<WorkerRegistry, 'announce' | 'pick' | 'capacity'>;
  now(): number;
}

/** Workers compare accounts but must not learn their ids. */
const opaque = (accountId: string) =>
  createHash('sha256').update(accountId).digest('base64url').slice(0, 16);

export class Announcer {
  readonly #options: AnnouncerOptions;
  #timer: NodeJS.Timeout | undefined;
  #sentMs = Number.NEGATIVE_INFINITY;
  #announced = false;

  constructor(options: AnnouncerOptions) {
    this.#options = options;
  }

  /** To be called when a render was taken or removed, or slots became free. */
  update(): void {
    const { queue, workers, now } = this.#options;
    if (queue.waiting() === 0 || (workers.pick() !== undefined && !this.#next())) this.#withdraw();
    else
      this.#timer ??= setTimeout(
        () => this.#send(),
        Math.max(0, this.#sentMs + WAITING_MS - now()),
      );
  }

  /** The render that `take` would return with one more free slot, if it waits for one. */
  #next() {
    const { queue, workers, now } = this.#options;
    const { slots } = workers.capacity();
    const found = queue.next(now(), { free: 1, slots });
    if (found)
      return workers.pick(found.entry.job.avoid) === undefined
        ? { ...found, throttled: false }
        : undefined;
    const throttled = queue.next(now(), { free: 1, slots, offered: 1 });
    return throttled && { ...throttled, throttled: true };
  }

  #send(): void {
    const { queue, workers, now } = this.#options;
    this.#timer = undefined;
    const found = this.#next();
    if (!found) return this.#withdraw();
    const { entry, held, throttled } = found;
    const { accountId, trial, avoid } = entry.job;
    this.#sentMs = now();
    const waitedMs = Math.round(this.#sentMs - entry.addedMs);
    const count = queue.waiting();
    // A worker that a retry must avoid can still take another render.
    const leaveOut = count > 1 ? undefined : avoid;
    const waiting = {
      waitedMs,
      count,
      trial,
      account: opaque(accountId),
      held,
      heldBack: throttled,
    };
    this.#announced = workers.announce(waiting, leaveOut);
    this.#timer = setTimeout(() => this.#send(), WAITING_MS);
  }

  /** Immediate, since a slot that was offered to this process would stay unused. */
  #withdraw(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#announced) this.#announced = this.#options.workers.announce(undefined);
  }
}
