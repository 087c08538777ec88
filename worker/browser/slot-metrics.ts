// Metrics of the slots and their Chromes.
import type { Metrics } from '../../common/operations.ts';
import { DEATHS, STARTS } from './chrome-end.ts';
import type { Slot } from './slot.ts';
import { SLOT_STATES, type SlotDeps } from './slot-state.ts';

/** Returns the counters of starts and deaths for one slot. */
export function slotCounters(
  metrics: Metrics,
): (slot: number) => Pick<SlotDeps, 'onStart' | 'onDeath' | 'onWarmRender' | 'onViolation'> {
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
  const warm = metrics.counter(
    'pressroom_worker_warm_renders_total',
    'Renders in a page that was kept from an earlier render of the same account.',
    [],
  );
  const violations = metrics.counter(
    'pressroom_worker_warm_violations_total',
    'Sealed pages that tried to load something. The document of such a page is rendered again in a fresh one.',
    [],
  );
  return number => {
    const slot = String(number);
    // Created at 0: rate() misses the first increment of a new series.
    for (const reason of STARTS) starts.inc({ slot, reason }, 0);
    for (const reason of DEATHS) deaths.inc({ slot, reason }, 0);
    return {
      onStart: reason => starts.inc({ slot, reason }),
      onDeath: reason => deaths.inc({ slot, reason }),
      onWarmRender: () => warm.inc({}),
      onViolation: () => violations.inc({}),
    };
  };
}

export function slotMetrics(metrics: Metrics, pool: string, slots: Slot[]): void {
  metrics.gauge('pressroom_slots', 'Slots by state.', ['pool', 'state'], gauge => {
    for (const state of SLOT_STATES)
      gauge.set({ pool, state }, slots.filter(slot => slot.state === state).length);
  });
  metrics.gauge(
    'pressroom_slots_warm',
    'Ready slots that keep a page for the next static document of an account.',
    ['pool'],
    gauge => gauge.set({ pool }, slots.filter(({ warmAccount }) => warmAccount).length),
  );
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
