// When the workers are notified of the renders that wait here: while no slot is free for them, so that
// a worker can offer its next slot to the API process whose render has waited longest.
import { createHash } from 'node:crypto';
import { WAITING_MS } from '../../common/protocol.ts';
import type { Workers } from '../workers/workers.ts';
import type { Queue, Queued } from './fair-queue.ts';

interface AnnouncedJob extends Queued {
  readonly avoid: ReadonlySet<string> | undefined;
}

interface AnnouncerOptions {
  queue: Pick<Queue<AnnouncedJob>, 'next' | 'waiting'>;
  workers: Pick<Workers, 'announce' | 'pick' | 'room'>;
  now(): number;
}

export interface Announcer {
  /** To be called when a render was taken or left, or slots became free. */
  update(): void;
}

/** A worker compares accounts and has no use for their ids. */
const opaque = (accountId: string) => createHash('sha256').update(accountId).digest('base64url').slice(0, 16);

export function createAnnouncer({ queue, workers, now }: AnnouncerOptions): Announcer {
  let timer: NodeJS.Timeout | undefined;
  let sentMs = Number.NEGATIVE_INFINITY;
  let announced = false;

  /** The next render, when it waits for a slot to become free. As in `take`, with one more slot. */
  function next() {
    const { slots } = workers.room();
    const found = queue.next(now(), { free: 1, slots });
    if (found) return workers.pick(found.place.job.avoid) === undefined ? { ...found, heldBack: false } : undefined;
    const back = queue.next(now(), { free: 1, slots, offered: 1 });
    return back && { ...back, heldBack: true };
  }

  function send(): void {
    timer = undefined;
    const found = next();
    if (!found) return withdraw();
    const { place, held, heldBack } = found;
    const { accountId, trial, avoid } = place.job;
    sentMs = now();
    const waitedMs = Math.round(sentMs - place.cameMs);
    const count = queue.waiting();
    // Where a retry must not go another render may.
    const leaveOut = count > 1 ? undefined : avoid;
    announced = workers.announce({ waitedMs, count, trial, account: opaque(accountId), held, heldBack }, leaveOut);
    timer = setTimeout(send, WAITING_MS);
  }

  /** At once: a slot that was offered to this process would stay unused. */
  function withdraw(): void {
    clearTimeout(timer);
    timer = undefined;
    if (announced) announced = workers.announce(undefined);
  }

  return {
    update() {
      if (queue.waiting() === 0 || (workers.pick() !== undefined && !next())) withdraw();
      else timer ??= setTimeout(send, Math.max(0, sentMs + WAITING_MS - now()));
    },
  };
}
