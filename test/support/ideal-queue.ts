// Computes the queue times of an ideal single FIFO queue whose slots join one after the other.

interface Ideal {
  /** The time each slot joins, relative to the first call. */
  joinsMs: readonly number[];
  callers: number;
  /** Interval between the first calls of consecutive callers. */
  everyMs: number;
  /** Number of calls of each caller. Each call starts when the previous one ends. */
  calls: number;
  renderMs: number;
}

/** The longest queue time of all calls in ms. */
export function longestIdealWaitMs({ joinsMs, callers, everyMs, calls, renderMs }: Ideal): number {
  const freeMs = [...joinsMs];
  const queue = Array.from({ length: callers }, (_, index) => ({
    arrivedMs: index * everyMs,
    left: calls,
  }));
  let longest = 0;
  for (let first = queue.shift(); first; first = queue.shift()) {
    const slot = freeMs.indexOf(Math.min(...freeMs));
    const startMs = Math.max(freeMs[slot]!, first.arrivedMs);
    longest = Math.max(longest, startMs - first.arrivedMs);
    freeMs[slot] = startMs + renderMs;
    if (first.left === 1) continue;
    queue.push({ arrivedMs: startMs + renderMs, left: first.left - 1 });
    queue.sort((a, b) => a.arrivedMs - b.arrivedMs);
  }
  return longest;
}
