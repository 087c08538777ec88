// Callers who each send their next render when the last is answered, measured while all of them are
// busy. Pure but for the clock.

export interface Flow {
  /** Done in all, those before and after the measured ones included. */
  done: number;
  perSecond: number;
  /** How long each measured render took. */
  timesMs: number[];
}

/**
 * Renders before the measured ones: what was prepared ahead while nobody called must be used up, or
 * it would count as gained.
 */
export const leadOf = (callers: number) => Math.max(2, callers);

/** How many renders a flow may begin. */
export const beginningsOf = (renders: number, callers: number) =>
  leadOf(callers) + renders + callers - 1;

/**
 * Measures from the end of the lead to the end of `renders` further ones. The callers keep on until
 * then, so that none of them is measured while others have left. Rejects with the first failure,
 * when the other callers have ended too.
 */
export async function closedLoop(
  renders: number,
  callers: number,
  render: (nth: number) => Promise<void>,
  now = () => performance.now(),
): Promise<Flow> {
  const lead = leadOf(callers);
  const timesMs: number[] = [];
  let [begun, done, startMs, endMs] = [0, 0, 0, 0];
  let failed = false;
  const caller = async () => {
    while (done < lead + renders && !failed) {
      const beganMs = now();
      try {
        await render(begun++);
      } catch (error) {
        failed = true;
        throw error;
      }
      done += 1;
      const nowMs = now();
      if (done === lead) startMs = nowMs;
      else if (done > lead && done <= lead + renders) timesMs.push(nowMs - beganMs);
      if (done === lead + renders) endMs = nowMs;
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: callers }, caller));
  const failure = ends.find(end => end.status === 'rejected');
  if (failure) throw failure.reason;
  return { done, perSecond: (renders * 1_000) / (endMs - startMs), timesMs };
}
