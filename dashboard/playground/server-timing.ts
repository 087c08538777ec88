// Reads the header Server-Timing (https://www.w3.org/TR/server-timing/) into a small waterfall:
// each phase begins where the one before ended. Pure.

export interface TimedPhase {
  name: string;
  startMs: number;
  durationMs: number;
}

/** The phases in the order of the header. What is not `name;dur=number` is left out. */
export function phasesOf(header: string | null): TimedPhase[] {
  let startMs = 0;
  return (header ?? '').split(',').flatMap(part => {
    const [, name, duration] = /^\s*([\w-]+)\s*;\s*dur=(\d+(?:\.\d+)?)\s*$/.exec(part) ?? [];
    if (name === undefined) return [];
    const phase = { name, startMs, durationMs: Number(duration) };
    startMs += phase.durationMs;
    return [phase];
  });
}
