// Keeps one healthy Chrome for the slots: starts it, asks it for signs of life, replaces it after so many renders or so much memory (make before
// break: the new one is warm before the old one takes no more, and the old one ends when its last slot closes), restarts it with back-off when it dies.
import type { Service } from '../common/lifecycle.ts';
import type { Log } from '../common/log.ts';
import type { Metrics } from '../common/operations.ts';
import type { WorkerStatus } from '../common/protocol.ts';
import type { Chrome } from './chrome.ts';
import { residentBytes } from './memory.ts';
import type { Slots } from './slots.ts';

export interface SupervisorConfig {
  recycleRenders: number;
  recycleBytes: number;
  /** Asked so often; a Chrome that does not answer within the same time is taken for hung and killed. */
  probeMs: number;
}

interface Deps {
  config: SupervisorConfig;
  launch(): Promise<Chrome>;
  slots(): Slots;
  log: Log;
  metrics: Metrics;
  onChange(): void;
}

export interface Supervisor extends Service {
  state(): WorkerStatus['chrome'];
  version(): string;
  /** Slots call these. */
  onClosed(chrome: Chrome, used: boolean): void;
  onBroken(chrome: Chrome, error: Error): void;
  /** All Chromes that run now, the retiring ones too. */
  running(): Chrome[];
}

const BACKOFF_MS = [0, 250, 1_000, 2_000, 5_000, 10_000, 30_000];
/** A Chrome that lived this long counts as a good start: the back-off begins anew. */
const GOOD_LIFE_MS = 30_000;

export function createSupervisor({ config, launch, slots, log, metrics, onChange }: Deps): Supervisor {
  const renders = new Map<Chrome, number>();
  let current: Chrome | undefined;
  let state: WorkerStatus['chrome'] = 'starting';
  let version = '';
  let attempts = 0;
  let replacing = false;
  let stopped = false;
  let probe: NodeJS.Timeout | undefined;
  let retry: NodeJS.Timeout | undefined;
  const starts = metrics.counter('pressroom_chrome_starts_total', 'Chromes started, by why.', ['reason']);

  const enter = (next: WorkerStatus['chrome']) => {
    if (state !== next) log.info({ from: state, to: next }, 'chrome state');
    state = next;
    onChange();
  };

  /** Starts a Chrome and gives it to the slots; resolves when one slot is ready in it. */
  async function bring(reason: 'first' | 'died' | 'recycle'): Promise<void> {
    const chrome = await launch();
    if (stopped) return chrome.close();
    starts.inc({ reason });
    renders.set(chrome, 0);
    const born = performance.now();
    void chrome.exited.then(how => onExit(chrome, how, performance.now() - born));
    const before = current;
    current = chrome;
    version = chrome.version;
    try {
      await slots().use(chrome);
    } catch (error) {
      chrome.kill();
      const superseded = current !== undefined && current !== chrome;
      if (!superseded) goBackTo(before);
      throw error;
    }
    enter('up');
    if (before) retireWhenUnused(before);
  }

  /** The one before a failed replacement goes on, when it still lives. */
  function goBackTo(before: Chrome | undefined): void {
    current = before && renders.has(before) ? before : undefined;
    if (!current) return;
    clearTimeout(retry);
    retry = undefined;
    slots()
      .use(current)
      .catch(() => {}); // its slots tell of it themselves
    enter('up');
  }

  function onExit(chrome: Chrome, how: string, livedMs: number): void {
    if (!renders.delete(chrome)) return;
    void chrome.close();
    slots().lost(chrome);
    if (chrome !== current || stopped) return;
    current = undefined;
    attempts = livedMs > GOOD_LIFE_MS ? 0 : attempts + 1;
    log.error({ how, livedMs: Math.round(livedMs), attempts }, 'chrome died');
    enter('down');
    restart('died');
  }

  function restart(reason: 'died'): void {
    if (stopped || retry) return;
    const waitMs = BACKOFF_MS[Math.min(attempts, BACKOFF_MS.length - 1)]!;
    retry = setTimeout(() => {
      retry = undefined;
      if (stopped || current) return;
      bring(reason).catch(error => {
        attempts++;
        log.error({ err: error, attempts }, 'chrome could not be restarted');
        if (!current) restart(reason);
      });
    }, waitMs);
  }

  function retireWhenUnused(chrome: Chrome): void {
    if (chrome === current || !renders.has(chrome) || slots().countIn(chrome) > 0) return;
    renders.delete(chrome);
    log.info({ pid: chrome.pid }, 'an old chrome ends');
    void chrome.close();
  }

  async function replace(why: Record<string, unknown>): Promise<void> {
    if (replacing || stopped) return;
    replacing = true;
    log.info(why, 'chrome is recycled');
    try {
      await bring('recycle');
    } catch (error) {
      log.error({ err: error, oldGoesOn: current !== undefined }, 'the new chrome did not come up');
      if (!current) {
        enter('down');
        restart('died');
      }
    } finally {
      replacing = false;
    }
  }

  async function check(): Promise<void> {
    for (const chrome of renders.keys()) {
      const answered = await Promise.race([
        chrome.pipe.command('Browser.getVersion').then(
          () => true,
          () => true,
        ),
        new Promise<false>(resolve => setTimeout(resolve, config.probeMs, false).unref()),
      ]);
      if (!answered) {
        log.error({ pid: chrome.pid }, 'chrome does not answer and is killed');
        chrome.kill();
      } else if (chrome === current) {
        const bytes = await residentBytes(chrome.pid);
        if (bytes !== undefined && bytes > config.recycleBytes) void replace({ bytes });
      }
    }
    if (!stopped) probe = setTimeout(check, config.probeMs);
  }

  return {
    name: 'chrome',
    state: () => state,
    version: () => version,
    running: () => [...renders.keys()],
    onClosed: (chrome, used) => {
      const done = (renders.get(chrome) ?? 0) + (used ? 1 : 0);
      if (renders.has(chrome)) renders.set(chrome, done);
      if (chrome === current && done >= config.recycleRenders) void replace({ renders: done });
      retireWhenUnused(chrome);
    },
    onBroken: (chrome, error) => {
      log.error({ err: error, pid: chrome.pid }, 'chrome opens no more contexts and is killed');
      chrome.kill();
    },
    start: async () => {
      probe = setTimeout(check, config.probeMs); // before it, since a Chrome can hang while its first slot is opened
      try {
        await bring('first');
      } catch (error) {
        stopped = true;
        clearTimeout(probe);
        throw error;
      }
    },
    stop: async () => {
      stopped = true;
      clearTimeout(probe);
      clearTimeout(retry);
      const all = [...renders.keys()];
      renders.clear();
      await Promise.all(all.map(chrome => chrome.close()));
    },
  };
}
