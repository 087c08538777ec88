// How fast one page may make Chrome send events. Each of them costs the worker's event loop, which
// all slots share.

/**
 * A page of 5,000 inline images makes about 15,000 events at once, and each names its `data:` URL
 * in full.
 */
const BURST_EVENTS = 20_000;
const EVENTS_PER_S = 5_000;
const BURST_BYTES = 64 * 2 ** 20;
const BYTES_PER_S = 8 * 2 ** 20;

export interface EventBudget {
  /**
   * Counts one event. Returns for how many ms nothing more should be read: 0 while there is budget.
   */
  spend(bytes: number, nowMs: number): number;
}

/** A token bucket over events and one over their bytes. Pure but for what it counts. */
export function createEventBudget(nowMs: number): EventBudget {
  let events = BURST_EVENTS;
  let bytes = BURST_BYTES;
  let atMs = nowMs;
  return {
    spend(size, now) {
      const seconds = (now - atMs) / 1_000;
      atMs = now;
      events = Math.min(BURST_EVENTS, events + seconds * EVENTS_PER_S) - 1;
      bytes = Math.min(BURST_BYTES, bytes + seconds * BYTES_PER_S) - size;
      return Math.max(0, (-events / EVENTS_PER_S) * 1_000, (-bytes / BYTES_PER_S) * 1_000);
    },
  };
}
