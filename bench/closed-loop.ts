// Callers that each send the next render after the last response. Measures only while all are busy.

export interface Flow {
  /** Number of all renders, including unmeasured ones. */
  done: number;
  perSecond: number;
  /** Durations of the measured renders. */
  timesMs: number[];
}

/** Unmeasured renders at the start, which use up capacity prepared while idle. */
export const leadOf = (callers: number) => Math.max(2, callers);

/** Maximum number of renders of a run. */
export const beginningsOf = (renders: number, callers: number) =>
  leadOf(callers) + renders + callers - 1;

/**
 * Measures `renders` renders after the lead. Callers continue until then, so that all are busy
 * throughout. Rejects with the first failure after all callers have ended.
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
