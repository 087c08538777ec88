// How many Chromes a worker has and what their browser processes hold, read when somebody asks.
import type { Metrics } from '../common/operations.ts';
import type { Chrome } from './chrome.ts';
import { residentBytes } from './memory.ts';

const STATES = ['serving', 'retiring'] as const;

/** `current`: the one in which slots are opened, among `all`. Without /proc (not Linux) nothing is said of memory. */
export function chromeMetrics(metrics: Metrics, read: () => { current: Chrome | undefined; all: Chrome[] }): void {
  const byState = (): Record<(typeof STATES)[number], Chrome[]> => {
    const { current, all } = read();
    return { serving: all.filter(chrome => chrome === current), retiring: all.filter(chrome => chrome !== current) };
  };

  metrics.gauge('pressroom_chromes', 'Chromes that run; a retiring one ends with its last slot.', ['state'], gauge => {
    const chromes = byState();
    for (const state of STATES) gauge.set({ state }, chromes[state].length);
  });

  metrics.gauge(
    'pressroom_chrome_browser_memory_bytes',
    'Memory of the browser processes, without mapped files: what a Chrome is recycled by.',
    ['state'],
    gauge => {
      const chromes = byState();
      gauge.reset();
      for (const state of STATES) {
        const known = chromes[state].map(({ pid }) => residentBytes(pid)).filter(bytes => bytes !== undefined);
        if (known.length > 0)
          gauge.set(
            { state },
            known.reduce((sum, bytes) => sum + bytes),
          );
      }
    },
  );
}
