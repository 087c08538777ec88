// The note of the Event about pages that hit limits. The workers log each of these renders.

export const PAGE_ENDS_MINUTES = 5;

/** The reasons of `pressroom_slot_ends_total` that a page causes. */
const MEANINGS: Record<string, string> = {
  memory: 'exceeded PRESSROOM_RENDER_MEMORY',
  flooded: 'sent more messages than Chrome or the connection to the API can process',
  renderer_crashed: 'crashed their renderer process',
  deadline: 'exceeded the time limit of a render',
};
export const PAGE_END_REASONS = Object.keys(MEANINGS);

/** Undefined if no page hit a limit. Rounded, because Prometheus extrapolates an increase. */
export function pageEndsNote(ends: ReadonlyMap<string, number>): string | undefined {
  const parts = PAGE_END_REASONS.map(reason => ({
    reason,
    count: Math.round(ends.get(reason) ?? 0),
  }))
    .filter(({ count }) => count > 0)
    .map(({ reason, count }) => `${count} ${MEANINGS[reason]} (${reason})`);
  if (parts.length === 0) return undefined;
  return `Pages that hit a limit in the last ${PAGE_ENDS_MINUTES} minutes: ${parts.join(', ')}. Their renders failed. For each render, see the worker logs.`;
}
