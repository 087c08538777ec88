// Metrics of the slots and their Chromes.
import type { Metrics } from '../../common/operations.ts';
import { DEATHS, STARTS } from './chrome-end.ts';
import { SLOT_STATES, type Slot, type SlotDeps } from './slot.ts';

/** Returns the counters of starts and deaths for one slot. */
export function slotCounters(
  metrics: Metrics,
): (slot: number) => Pick<SlotDeps, 'onStart' | 'onDeath'> {
  const labels = ['slot', 'reason'] as const;
  const starts = metrics.counter(
    'pressroom_chrome_starts_total',
    'Chrome starts, by slot and reason.',
    labels,
  );
  const deaths = metrics.counter(
    'pressroom_chrome_deaths_total',
    'Unexpected Chrome exits, by slot and reason.',
    labels,
  );
  return number => {
    const slot = String(number);
    // Created at 0: rate() misses the first increment of a new series.
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
  const running = 'Sum of the seconds for which the running renders have held their slots.';
  metrics.gauge('pressroom_slots_running_seconds', running, ['pool'], gauge => {
    const runningMs = slots.reduce((sum, slot) => sum + slot.runningMs(), 0);
    gauge.set({ pool }, runningMs / 1_000);
  });
  metrics
    .gauge('pressroom_slots_capacity', 'Concurrent renders that this worker supports.', ['pool'])
    .set({ pool }, slots.length);
  metrics.gauge(
    'pressroom_chromes',
    'Running Chrome instances by state: serving a slot or retiring.',
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
    "Memory of all processes of a slot's Chrome, without mapped files. Absent when unknown.";
  metrics.gauge('pressroom_chrome_memory_bytes', help, ['slot'], gauge => {
    gauge.reset();
    for (const slot of slots) {
      const bytes = slot.residentBytes();
      if (bytes) gauge.set({ slot: String(slot.number) }, bytes);
    }
  });
}
