// Watches one Chrome: signs of life, its network process, and while a render runs the memory and CPU of its process tree.
import type { Log } from '../../common/log.ts';
import { answersWithin } from './cdp-pipe.ts';
import type { Chrome } from './chrome.ts';
import { cpuMs, renice, residentBytes, sumOf } from './process-usage.ts';

export interface WatchdogLimits {
  /** Signs of life are asked for this often; a Chrome that takes as long to answer is hung. */
  probeMs: number;
  /** The most that one render may add to the memory of its Chrome, all processes together. */
  maxBytes: number;
}

export interface SlotLimits extends WatchdogLimits {
  recycleRenders: number;
  /** A Chrome that has grown by so much between renders is replaced. */
  recycleBytes: number;
}

/** `flooded`: Chrome does not answer because its page keeps it busy. The others are not the page's doing, but for `memory`. */
export type Fault = 'hung' | 'unusable' | 'memory' | 'flooded';

interface Deps {
  chrome: Chrome;
  limits: WatchdogLimits;
  /** The session of the page that waits for a render, if one does. */
  waiting(): string | undefined;
  condemn(fault: Fault, message: string): void;
  log: Log;
}

export interface Watchdog {
  /** The first page waits: what Chrome holds now is not a page's. */
  ready(): void;
  /** A render begins: its memory and CPU count from now. */
  begin(): void;
  /** The render is over: what the processes that outlive its page hold now is not the next one's. */
  end(): void;
  /** What the processes that outlive a page have gained from the first page to the end of the last. */
  grownBytes(): number;
  /** The page's process died close to the memory limit: V8 ends itself just before the watchdog would. */
  nearMemoryLimit(): boolean;
  /** The render used more than its share of CPU and its processes have a lower priority, which cannot be taken back. */
  reniced(): boolean;
  /** What the processes of this Chrome hold together. */
  residentBytes(): number;
  stop(): void;
}

export const CUT_OFF = "the process of Chrome's network died";

/** A render that runs while its network dies must end before it is printed; looking costs nothing. */
const NETWORK_MS = 100;
const USAGE_MS = 250;
/** A 20-page report takes 0.3 s. Beyond this share a render gets what the others leave. */
const CPU_SHARE_MS = 2_000;
const NICE = 10;
/** A browser that is stuck by itself, frozen for instance, uses no CPU. One that its page keeps busy does. */
const BUSY_SHARE = 0.1;
const NEAR = 0.7;

export function watchChrome({ chrome, limits, waiting, condemn, log }: Deps): Watchdog {
  let pids: number[] = [chrome.pid];
  let shared: number[] = pids;
  let rendering = false;
  /** What the processes that all pages share held before the first of them, and after the last. */
  let idleBytes: number | undefined;
  let restBytes = 0;
  /** Read at the first look of a render, so that a short one costs nothing. */
  let cpuBeforeMs: number | undefined;
  let bytes = 0;
  let reniced = false;
  let stopped = false;
  let probe: NodeJS.Timeout | undefined;

  function listProcesses(maxAgeMs?: number): void {
    const processes = chrome.processes(maxAgeMs);
    pids = processes.map(({ pid }) => pid);
    shared = processes.flatMap(({ type, pid }) => (type === 'renderer' ? [] : [pid]));
  }

  function measure(): void {
    if (!rendering) return;
    listProcesses();
    bytes = sumOf(residentBytes, pids) - restBytes;
    if (bytes > limits.maxBytes) {
      return condemn('memory', `the page used ${Math.round(bytes / 2 ** 20)} MiB, more memory than a render may`);
    }
    const spentMs = sumOf(cpuMs, pids);
    cpuBeforeMs ??= spentMs;
    if (spentMs - cpuBeforeMs <= CPU_SHARE_MS) return;
    if (!reniced)
      log.warn({ pid: chrome.pid, cpuShareMs: CPU_SHARE_MS }, 'a render used more than its share of CPU and gets a lower priority');
    reniced = true;
    renice(pids, NICE);
  }

  async function check(): Promise<void> {
    const { pipe } = chrome;
    const [beforeMs, sentAtMs, page] = [sumOf(cpuMs, shared), performance.now(), waiting()];
    // Of the browser's process, and of the one that is the network of all pages: cookies are kept there.
    const signs = Promise.all([pipe.command('Browser.getVersion'), pipe.command('Storage.getCookies')]);
    const [answered, pageAnswered] = await Promise.all([
      answersWithin(limits.probeMs, signs),
      page === undefined || answersWithin(limits.probeMs, pipe.command('Runtime.getIsolateId', {}, page)),
    ]);
    if (stopped) return;
    // What it has answered may wait unread behind the events of its page, which its memory limit bounds.
    if (!answered && !pipe.paused()) {
      const busyMs = sumOf(cpuMs, shared) - beforeMs;
      const byPage = rendering && busyMs > BUSY_SHARE * (performance.now() - sentAtMs);
      return condemn(byPage ? 'flooded' : 'hung', byPage ? 'the page kept its browser too busy to answer' : 'Chrome does not answer');
    }
    // One that was claimed meanwhile may be busy with its render.
    if (!pageAnswered && waiting() === page) return condemn('unusable', 'the page of a waiting slot does not answer');
    listProcesses();
    probe = setTimeout(check, limits.probeMs);
  }

  probe = setTimeout(check, limits.probeMs);
  const network = setInterval(() => {
    if (!chrome.connected()) condemn('unusable', CUT_OFF);
  }, NETWORK_MS);
  const usage = setInterval(measure, USAGE_MS);

  return {
    ready() {
      if (idleBytes !== undefined) return;
      listProcesses(0);
      idleBytes = restBytes = sumOf(residentBytes, shared);
    },
    begin() {
      rendering = true;
      cpuBeforeMs = undefined;
      bytes = 0;
    },
    end() {
      rendering = false;
      restBytes = sumOf(residentBytes, shared);
    },
    grownBytes: () => restBytes - (idleBytes ?? 0),
    nearMemoryLimit: () => bytes > NEAR * limits.maxBytes,
    reniced: () => reniced,
    residentBytes: () => sumOf(residentBytes, pids),
    stop() {
      stopped = true;
      clearTimeout(probe);
      clearInterval(network);
      clearInterval(usage);
    },
  };
}
