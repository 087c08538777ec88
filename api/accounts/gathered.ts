// Lets calls that come while others are under way leave together, so that they share what a message costs. Knows nothing of what is sent.

export interface GatherLimits {
  /** So many messages are under way before a call has to wait. */
  atOnce: number;
  /** The most calls in one message: with so many it leaves at once. */
  most: number;
  /** The longest that a call waits for those under way, so that one which hangs holds up nobody. */
  waitMs: number;
}

/**
 * A call leaves at once while fewer than `atOnce` messages are under way. Else it waits for the next one, which leaves when one of those has ended, and at the latest
 * as `most` and `waitMs` say. Those that left together have the same end; a message has them in the order in which they came.
 */
export function gathered<T, R>(
  send: (together: readonly T[]) => Promise<R>,
  { atOnce, most, waitMs }: GatherLimits,
): (call: T) => Promise<R> {
  let underWay = 0;
  let next: { calls: T[]; end: PromiseWithResolvers<R>; timer: NodeJS.Timeout } | undefined;

  async function leave(calls: readonly T[]): Promise<R> {
    underWay += 1;
    try {
      return await send(calls);
    } finally {
      underWay -= 1;
      if (underWay < atOnce) nextLeaves();
    }
  }

  function nextLeaves(): void {
    if (!next) return;
    const { calls, end, timer } = next;
    next = undefined;
    clearTimeout(timer);
    leave(calls).then(end.resolve, end.reject);
  }

  return call => {
    if (underWay < atOnce) return leave([call]);
    next ??= { calls: [], end: Promise.withResolvers<R>(), timer: setTimeout(nextLeaves, waitMs) };
    const { calls, end } = next;
    calls.push(call);
    if (calls.length >= most) nextLeaves();
    return end.promise;
  };
}
