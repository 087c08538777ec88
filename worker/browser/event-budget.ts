// The rate at which one page may make Chrome send events. Each event costs time of the worker's
// event loop, which all slots share.

/**
 * A page with 5,000 inline images makes about 15,000 events at once, each with its full `data:`
 * URL.
 */
const BURST_EVENTS = 20_000;
const EVENTS_PER_S = 5_000;
const BURST_BYTES = 64 * 2 ** 20;
const BYTES_PER_S = 8 * 2 ** 20;

/** Two token buckets: one for events and one for their bytes. */
export function createEventBudget(nowMs: number) {
  let events = BURST_EVENTS;
  let bytes = BURST_BYTES;
  let atMs = nowMs;
  return {
    /** Counts one event. Returns the ms for which reading should pause: 0 within the budget. */
    spend(size: number, now: number): number {
      const seconds = (now - atMs) / 1_000;
      atMs = now;
      events = Math.min(BURST_EVENTS, events + seconds * EVENTS_PER_S) - 1;
      bytes = Math.min(BURST_BYTES, bytes + seconds * BYTES_PER_S) - size;
      return Math.max(0, (-events / EVENTS_PER_S) * 1_000, (-bytes / BYTES_PER_S) * 1_000);
    },
  };
}
