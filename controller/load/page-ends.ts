// Which bounds pages hit, for an Event on their pool. The worker's log has a line for each of these
// renders.

export const PAGE_ENDS_MINUTES = 5;

/** By the reasons of `pressroom_slot_ends_total` that a page causes. */
const MEANINGS: Record<string, string> = {
  memory: 'used more memory than PRESSROOM_RENDER_MEMORY',
  flooded: 'sent more than Chrome or the connection to the API takes',
  renderer_crashed: 'crashed their process',
  deadline: 'took longer than a render may',
};
export const PAGE_END_REASONS = Object.keys(MEANINGS);

/**
 * Undefined when no page hit a bound. Prometheus extrapolates an increase, so numbers need not be
 * whole.
 */
export function pageEndsNote(ends: ReadonlyMap<string, number>): string | undefined {
  const parts = PAGE_END_REASONS.map(reason => ({
    reason,
    count: Math.round(ends.get(reason) ?? 0),
  }))
    .filter(({ count }) => count > 0)
    .map(({ reason, count }) => `${count} ${MEANINGS[reason]} (${reason})`);
  if (parts.length === 0) return undefined;
  return `Pages that hit a bound in the last ${PAGE_ENDS_MINUTES} minutes: ${parts.join(', ')}. Their renders ended; the log of the workers names each.`;
}
