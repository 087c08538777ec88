// What renders would wait in one queue: first come, first served, by slots that join one after the
// other.

interface Ideal {
  /** When each slot is there, from the first call on. */
  joinsMs: readonly number[];
  callers: number;
  /** From the first call of one caller to that of the next. */
  everyMs: number;
  /** How often each calls, each time as soon as the call before is answered. */
  calls: number;
  renderMs: number;
}

/** The longest wait of all calls, in ms. */
export function longestIdealWaitMs({ joinsMs, callers, everyMs, calls, renderMs }: Ideal): number {
  const freeMs = [...joinsMs];
  const queue = Array.from({ length: callers }, (_, index) => ({
    cameMs: index * everyMs,
    left: calls,
  }));
  let longest = 0;
  for (let first = queue.shift(); first; first = queue.shift()) {
    const slot = freeMs.indexOf(Math.min(...freeMs));
    const startMs = Math.max(freeMs[slot]!, first.cameMs);
    longest = Math.max(longest, startMs - first.cameMs);
    freeMs[slot] = startMs + renderMs;
    if (first.left === 1) continue;
    queue.push({ cameMs: startMs + renderMs, left: first.left - 1 });
    queue.sort((a, b) => a.cameMs - b.cameMs);
  }
  return longest;
}
