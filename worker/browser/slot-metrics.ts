// Numbers of the slots and their Chromes.
import type { Metrics } from '../../common/operations.ts';
import { DEATHS, STARTS } from './chrome-end.ts';
import { SLOT_STATES, type Slot, type SlotDeps } from './slot.ts';

/** Returns what counts the starts and deaths of one slot's Chromes. */
export function slotCounters(
  metrics: Metrics,
): (slot: number) => Pick<SlotDeps, 'onStart' | 'onDeath'> {
  const labels = ['slot', 'reason'] as const;
  const starts = metrics.counter(
    'pressroom_chrome_starts_total',
    'Chromes started, by slot and reason.',
    labels,
  );
  const deaths = metrics.counter(
    'pressroom_chrome_deaths_total',
    'Chromes that ended unexpectedly, by slot and reason.',
    labels,
  );
  return number => {
    const slot = String(number);
    // A rate does not see the first step of a series that was not there before it.
    for (const reason of STARTS) starts.inc({ slot, reason }, 0);
    for (const reason of DEATHS) deaths.inc({ slot, reason }, 0);
    return {
      onStart: reason => starts.inc({ slot, reason }),
      onDeath: reason => deaths.inc({ slot, reason }),
    };
  };
}

export function slotMetrics(metrics: Metrics, pool: string, slots: Slot[]): void {
  metrics.gauge('pressroom_slots', 'Slots by state.', ['pool', 'state'], gauge => {
    for (const state of SLOT_STATES)
      gauge.set({ pool, state }, slots.filter(slot => slot.state === state).length);
  });
  const running = 'How long the renders that run have had their slots, all together.';
  metrics.gauge('pressroom_slots_running_seconds', running, ['pool'], gauge => {
    const runningMs = slots.reduce((sum, slot) => sum + slot.runningMs(), 0);
    gauge.set({ pool }, runningMs / 1_000);
  });
  metrics
    .gauge('pressroom_slots_capacity', 'Renders at once that this worker takes.', ['pool'])
    .set({ pool }, slots.length);
  metrics.gauge(
    'pressroom_chromes',
    'Chromes that run: one for each slot, and those that end.',
    ['state'],
    gauge => {
      gauge.set({ state: 'serving' }, slots.filter(({ chrome }) => chrome).length);
      gauge.set(
        { state: 'retiring' },
        slots.reduce((sum, { ending }) => sum + ending, 0),
      );
    },
  );
  const help =
    "Memory of a slot's Chrome, all processes together, without mapped files. Absent where it is unknown.";
  metrics.gauge('pressroom_chrome_memory_bytes', help, ['slot'], gauge => {
    gauge.reset();
    for (const slot of slots) {
      const bytes = slot.residentBytes();
      if (bytes) gauge.set({ slot: String(slot.number) }, bytes);
    }
  });
}
