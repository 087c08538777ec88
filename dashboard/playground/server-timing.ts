// Parses the Server-Timing header (https://www.w3.org/TR/server-timing/) into consecutive phases.

export interface TimedPhase {
  name: string;
  startMs: number;
  durationMs: number;
}

/** The phases in the order of the header. Skips entries that are not `name;dur=number`. */
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
