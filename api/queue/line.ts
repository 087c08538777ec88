// The line at work: serves those whose turn it is while slots are free, and ends the waits that are over.
// Woken by events (a job comes, a worker speaks, a claim ends) and by two timers: the end of the oldest wait, and a look at renders that are held back.

import { renderFailed } from '../../common/contract/errors.ts';
import { type EgressPolicy, signTicket } from '../../common/ticket.ts';
import { type OpenSlot, SlotLost, SlotRefused, type SlotSession, WorkerUnreachable } from '../workers/slot-port.ts';
import type { Workers } from '../workers/workers.ts';
import { createAnnouncer } from './announcer.ts';
import type { DispatchMetrics } from './dispatch-metrics.ts';
import type { Place, Queue } from './fair-queue.ts';
import { givesUpAtMs, type WaitLimits } from './wait-deadline.ts';

/** A job in the line: what the queue sorts by, what the claim needs, and whom to tell. */
export interface Waiter<S> {
  readonly accountId: string;
  readonly visitor?: string;
  readonly trial: boolean;
  readonly bytes: number;
  readonly renderId: string;
  readonly egress: EgressPolicy;
  readonly maxMs: number;
  readonly signal: AbortSignal;
  /** The worker that died under it. */
  avoid: ReadonlySet<string> | undefined;
  served(session: S): void;
  failed(reason: unknown): void;
}

export interface LineOptions<S extends SlotSession> {
  queue: Queue<Waiter<S>>;
  limits: WaitLimits;
  workers: Pick<Workers, 'api' | 'known' | 'pick' | 'claim' | 'room' | 'announce' | 'onChange'>;
  openSlot: OpenSlot<S>;
  secret: string;
  pool: string;
  metrics: DispatchMetrics;
  now(): number;
}

export interface Line<S extends SlotSession> {
  /** To be called when a place was added or has rejoined. */
  arrived(): void;
  leave(place: Place<Waiter<S>>): void;
  /** As long as the line takes now, as a `Retry-After` in whole seconds. */
  comeBackAfterS(): number;
}

/** How soon one looks again at renders that were held back: they may go on once the others have gone, and nobody says so. */
const LOOK_AGAIN_MS = 250;

/** What a failed claim says of the worker. A slot that was lost before it was there is a worker that cannot be reached. */
function outcomeOf(error: unknown, signal: AbortSignal): 'refused' | 'unreachable' | 'cancelled' {
  if (signal.aborted) return 'cancelled';
  if (error instanceof SlotRefused) return 'refused';
  return error instanceof WorkerUnreachable || error instanceof SlotLost ? 'unreachable' : 'cancelled';
}

export function createLine<S extends SlotSession>({
  queue,
  limits,
  workers,
  openSlot,
  secret,
  pool,
  metrics,
  now,
}: LineOptions<S>): Line<S> {
  let knownSinceMs = workers.known() ? now() : undefined;
  let timer: NodeJS.Timeout | undefined;
  let lookAgain: NodeJS.Timeout | undefined;
  const announcer = createAnnouncer({ queue, workers, now });

  /** A retry that must keep away from the free slots lets the others pass. */
  function serve(): void {
    const passedOver: Place<Waiter<S>>[] = [];
    clearTimeout(lookAgain);
    while (queue.waiting() > 0 && workers.pick() !== undefined) {
      const place = queue.take(now(), workers.room());
      if (!place) break;
      const address = workers.pick(place.job.avoid);
      if (address === undefined) passedOver.push(place);
      else void claim(place, address);
    }
    for (const place of passedOver) queue.putBack(place, now());
    if (queue.waiting() > passedOver.length && workers.pick() !== undefined) lookAgain = setTimeout(serve, LOOK_AGAIN_MS);
    announcer.update();
  }

  async function claim(place: Place<Waiter<S>>, address: string): Promise<void> {
    const { renderId, egress, accountId, visitor, maxMs, signal, served, failed } = place.job;
    const booking = workers.claim(address);
    const { api } = workers;
    try {
      const account = visitor ?? accountId;
      const session = await openSlot(address, signTicket(secret, { pool, purpose: 'slot', renderId, egress, account, api, maxMs }), signal);
      booking.opened();
      metrics.claimed('opened');
      if (place.state === 'left') session.close();
      else {
        leave(place);
        served(session);
      }
    } catch (error) {
      const outcome = outcomeOf(error, signal);
      booking[outcome]();
      metrics.claimed(outcome);
      if (outcome !== 'cancelled') putBack(place);
      else if (place.state !== 'left') {
        leave(place);
        failed(error);
      }
    }
    serve();
  }

  /** Whoever was being served when his wait ended is asked now. */
  function putBack(place: Place<Waiter<S>>): void {
    queue.putBack(place, now());
    if (givesUpAtMs(place.sinceMs, knownSinceMs, limits) <= now()) endWaits();
  }

  /** Ends the waits that are over and sets the timer for the next. */
  function endWaits(): void {
    clearTimeout(timer);
    timer = undefined;
    let nextMs = Number.POSITIVE_INFINITY;
    for (const place of queue.places()) {
      const endsMs = givesUpAtMs(place.sinceMs, knownSinceMs, limits);
      if (endsMs > now()) nextMs = Math.min(nextMs, endsMs);
      else if (place.state === 'waiting') giveUp(place);
    }
    if (nextMs < Number.POSITIVE_INFINITY) timer = setTimeout(endWaits, Math.ceil(nextMs - now()));
  }

  function giveUp(place: Place<Waiter<S>>): void {
    const waitedS = Math.round((now() - place.sinceMs) / 1000);
    const retryAfterS = comeBackAfterS();
    const why = knownSinceMs === undefined ? 'No worker was connected' : 'No worker had a free slot';
    leave(place);
    place.job.failed(renderFailed('no_worker', `${why} in the ${waitedS} s that this render waited. Try it again later.`, { retryAfterS }));
  }

  const comeBackAfterS = () => Math.min(30, Math.max(1, Math.ceil(queue.oldestWaitMs(now()) / 1000)));

  function leave(place: Place<Waiter<S>>): void {
    queue.leave(place);
    if (queue.waiting() === 0) announcer.update();
    if (queue.depth() > 0) return;
    clearTimeout(timer);
    timer = undefined;
    clearTimeout(lookAgain);
  }

  workers.onChange(() => {
    const known = workers.known();
    if (known !== (knownSinceMs !== undefined)) {
      knownSinceMs = known ? now() : undefined;
      endWaits();
    }
    serve();
  });

  return {
    arrived() {
      // Waits end in the order they began, so a timer that runs is early enough for a newcomer.
      if (!timer) endWaits();
      serve();
    },
    leave,
    comeBackAfterS,
  };
}
