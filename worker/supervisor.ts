// Keeps one healthy Chrome for the slots: starts it, asks it for signs of life, replaces it after so many renders or so much memory (make before
// break: the new one is warm before the old one takes no more, and the old one ends when its last slot closes), restarts it with back-off when it dies.
import type { Service } from '../common/lifecycle.ts';
import type { Log } from '../common/log.ts';
import type { Metrics } from '../common/operations.ts';
import type { WorkerStatus } from '../common/protocol.ts';
import { answersWithin } from './cdp-pipe.ts';
import type { Chrome } from './chrome.ts';
import { chromeMetrics } from './chrome-metrics.ts';
import { residentBytes } from './memory.ts';
import { CUT_OFF, type Slots } from './slots.ts';

export interface SupervisorConfig {
  recycleRenders: number;
  recycleBytes: number;
  /** Asked so often; a Chrome that does not answer within the same time is taken for hung and killed. */
  probeMs: number;
}

interface Deps {
  config: SupervisorConfig;
  /** `giveUp` ends a start that is under way. */
  launch(giveUp: AbortSignal): Promise<Chrome>;
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
  /** Its shared processes hold too much memory: it is killed. */
  onOutgrown(chrome: Chrome): void;
  /** All Chromes that run now, the retiring ones too. */
  running(): Chrome[];
}

const STARTS = ['first', 'died', 'recycle'] as const;
/** `exited`: by itself or by a stranger's hand. `unusable`: it opened no slot, or had no network. `not_started`: it never answered. */
const DEATHS = ['exited', 'hung', 'unusable', 'memory', 'not_started'] as const;

const BACKOFF_MS = [0, 250, 1_000, 2_000, 5_000, 10_000, 30_000];
const backOffMs = (failures: number): number => BACKOFF_MS[Math.min(failures, BACKOFF_MS.length - 1)]!;
/** Of the browser's process, and of the one that is the network of all pages: cookies are kept there. */
const signsOfLife = ({ pipe }: Chrome) => Promise.all([pipe.command('Browser.getVersion'), pipe.command('Storage.getCookies')]);

/** A render that runs while its network dies must be ended before it is printed; looking costs nothing. */
const LOOK_MS = 100;
/** A Chrome that lived this long counts as a good start: the back-off begins anew. */
const GOOD_LIFE_MS = 30_000;

export function createSupervisor({ config, launch, slots, log, metrics, onChange }: Deps): Supervisor {
  const renders = new Map<Chrome, number>();
  let current: Chrome | undefined;
  let state: WorkerStatus['chrome'] = 'starting';
  let version = '';
  let attempts = 0;
  let replacing = false;
  let failedReplacements = 0;
  let replaceNotBeforeMs = 0;
  let look: NodeJS.Timeout | undefined;
  /** Not gone yet with all their processes, those that end included. */
  const living = new Set<Chrome>();
  const launches = new Set<Promise<Chrome>>();
  const stopping = new AbortController();
  const stopped = () => stopping.signal.aborted;
  let probe: NodeJS.Timeout | undefined;
  let retry: NodeJS.Timeout | undefined;
  /** Those that were killed here, and why. */
  const condemned = new WeakMap<Chrome, (typeof DEATHS)[number]>();
  const started = metrics.counterBy('pressroom_chrome_starts_total', 'Chromes started, by why.', 'reason', STARTS);
  const died = metrics.counterBy('pressroom_chrome_deaths_total', 'Chromes that ended before they were told to, by why.', 'reason', DEATHS);
  chromeMetrics(metrics, () => ({ current, all: [...renders.keys()] }));

  const enter = (next: WorkerStatus['chrome']) => {
    if (state !== next) log.info({ from: state, to: next }, 'chrome state');
    state = next;
    onChange();
  };

  /** Starts a Chrome and gives it to the slots; resolves when one slot is ready in it. */
  async function bring(reason: (typeof STARTS)[number]): Promise<void> {
    const chrome = await launched();
    if (stopped()) return chrome.close();
    started(reason);
    renders.set(chrome, 0);
    const born = performance.now();
    void chrome.exited.then(how => onExit(chrome, how, performance.now() - born));
    const before = current;
    current = chrome;
    version = chrome.version;
    try {
      await slots().use(chrome);
    } catch (error) {
      kill(chrome, 'unusable');
      const superseded = current !== undefined && current !== chrome;
      if (!superseded) goBackTo(before);
      throw error;
    }
    enter('up');
    if (before) retireWhenUnused(before);
  }

  async function launched(): Promise<Chrome> {
    const launching = launch(stopping.signal);
    launches.add(launching);
    try {
      const chrome = await launching;
      living.add(chrome);
      return chrome;
    } catch (error) {
      if (!stopped()) died('not_started');
      throw error;
    } finally {
      launches.delete(launching);
    }
  }

  function kill(chrome: Chrome, why: (typeof DEATHS)[number]): void {
    if (!condemned.has(chrome)) condemned.set(chrome, why);
    chrome.kill();
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
    void chrome.close().then(() => onGone(chrome));
    if (!renders.delete(chrome)) return;
    died(condemned.get(chrome) ?? 'exited');
    slots().lost(chrome);
    if (chrome !== current || stopped()) return;
    current = undefined;
    attempts = livedMs > GOOD_LIFE_MS ? 0 : attempts + 1;
    log.error({ how, livedMs: Math.round(livedMs), attempts }, 'chrome died');
    enter('down');
    restart('died');
  }

  function onGone(chrome: Chrome): void {
    living.delete(chrome);
    replaceWhenWorn(); // it may have had to wait for this end
  }

  function replaceWhenWorn(): void {
    const done = (current && renders.get(current)) ?? 0;
    if (done >= config.recycleRenders) void replace({ renders: done });
  }

  function restart(reason: 'died'): void {
    if (stopped() || retry) return;
    retry = setTimeout(() => {
      retry = undefined;
      if (stopped() || current) return;
      bring(reason).catch(error => {
        if (stopped()) return;
        attempts++;
        log.error({ err: error, attempts }, 'chrome could not be restarted');
        if (!current) restart(reason);
      });
    }, backOffMs(attempts));
  }

  function retireWhenUnused(chrome: Chrome): void {
    if (chrome === current || !renders.has(chrome) || slots().countIn(chrome) > 0) return;
    renders.delete(chrome);
    log.info({ pid: chrome.pid }, 'an old chrome ends');
    void chrome.close();
  }

  /** A third Chrome beside the new one and the old one would not be in the operator's sums: it waits until the old one is gone. */
  async function replace(why: Record<string, unknown>): Promise<void> {
    if (replacing || stopped() || living.size > 1 || performance.now() < replaceNotBeforeMs) return;
    replacing = true;
    log.info(why, 'chrome is recycled');
    try {
      await bring('recycle');
      failedReplacements = 0;
    } catch (error) {
      if (stopped()) return;
      replaceNotBeforeMs = performance.now() + backOffMs(++failedReplacements);
      log.error({ err: error, failedReplacements, oldGoesOn: current !== undefined }, 'the new chrome did not come up');
      if (!current) {
        enter('down');
        restart('died');
      }
    } finally {
      replacing = false;
    }
  }

  function broken(chrome: Chrome, error: Error): void {
    if (condemned.has(chrome)) return;
    log.error({ err: error, pid: chrome.pid }, 'chrome is of no use and is killed');
    kill(chrome, 'unusable');
  }

  function lookAtNetworks(): void {
    for (const chrome of renders.keys()) if (!chrome.connected()) broken(chrome, new Error(CUT_OFF));
  }

  async function check(): Promise<void> {
    for (const chrome of renders.keys()) {
      if (!(await answersWithin(config.probeMs, signsOfLife(chrome)))) {
        log.error({ pid: chrome.pid }, 'chrome does not answer and is killed');
        kill(chrome, 'hung');
      } else if (chrome === current) {
        await slots().check(chrome, config.probeMs);
        const bytes = residentBytes(chrome.pid);
        // One that has rendered nothing is as small as a Chrome can be.
        if (bytes !== undefined && bytes > config.recycleBytes && renders.get(chrome)) void replace({ bytes });
      }
    }
    if (!stopped()) probe = setTimeout(check, config.probeMs);
  }

  async function endAll(): Promise<void> {
    stopping.abort();
    clearInterval(look);
    clearTimeout(probe);
    clearTimeout(retry);
    renders.clear();
    await Promise.allSettled(launches);
    await Promise.all([...living].map(chrome => chrome.close()));
  }

  /** A first start that the process is told to end: its Chrome may hang. Later ones are ended by `stop`, when the last render is over. */
  const giveUpFirst = () => {
    stopping.abort();
    for (const chrome of living) chrome.kill();
  };

  return {
    name: 'chrome',
    state: () => state,
    version: () => version,
    running: () => [...renders.keys()],
    onOutgrown: chrome => kill(chrome, 'memory'),
    onClosed: (chrome, used) => {
      const done = (renders.get(chrome) ?? 0) + (used ? 1 : 0);
      if (renders.has(chrome)) renders.set(chrome, done);
      replaceWhenWorn();
      retireWhenUnused(chrome);
    },
    onBroken: broken,
    start: async giveUp => {
      giveUp?.addEventListener('abort', giveUpFirst, { once: true });
      look = setInterval(lookAtNetworks, LOOK_MS);
      probe = setTimeout(check, config.probeMs); // before it, since a Chrome can hang while its first slot is opened
      try {
        await bring('first');
      } catch (error) {
        await endAll();
        throw error;
      } finally {
        giveUp?.removeEventListener('abort', giveUpFirst);
      }
    },
    stop: endAll,
  };
}
