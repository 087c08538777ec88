// Watches one Chrome: liveness probes, its network process, and during a render the memory and CPU
// of its process tree.
import type { Log } from '../../common/log.ts';
import { answersWithin } from './cdp-pipe.ts';
import type { Chrome } from './chrome.ts';
import { cpuMs, renice, residentBytes, sumOf } from './process-usage.ts';
import type { WarmPageLimits } from './warm-page.ts';

export interface WatchdogLimits {
  /** Interval of liveness probes; a Chrome that takes as long to answer counts as hung. */
  probeMs: number;
  /** The most memory that one render may add to all processes of its Chrome. */
  maxBytes: number;
}

export interface SlotLimits extends WatchdogLimits {
  recycleRenders: number;
  /** Memory growth between renders after which a Chrome is replaced. */
  recycleBytes: number;
  warmPage: WarmPageLimits;
}

/**
 * `flooded`: Chrome does not answer because its page keeps it busy. The page causes `flooded` and
 * `memory` only.
 */
export type Fault = 'hung' | 'unusable' | 'memory' | 'flooded';

interface WatchdogDeps {
  chrome: Chrome;
  limits: WatchdogLimits;
  /** The session of the page that waits for a render, if there is one. */
  waiting(): string | undefined;
  retire(fault: Fault, message: string): void;
  log: Log;
}

export const CUT_OFF = "Chrome's network process died";

/** Short, because a render whose network dies must end before it is printed. */
const NETWORK_MS = 100;
const USAGE_MS = 250;
/** A 20-page report uses 0.3 s. Beyond this share a render gets a lower priority. */
const CPU_SHARE_MS = 2_000;
const NICE = 10;
/** Distinguishes a hung browser, which uses no CPU, from one that is kept busy by its page. */
const BUSY_SHARE = 0.1;
const NEAR = 0.7;
const RENDERERS_MAX_AGE_MS = 1_000;

/** Runs from its construction until `stop`. */
export class Watchdog {
  readonly #deps: WatchdogDeps;
  #pids: number[];
  /** The processes that all pages share. */
  #shared: number[];
  #rendering = false;
  /** Memory of the shared processes before the first page and after the last one. */
  #idleBytes: number | undefined;
  #restBytes = 0;
  /** Memory of the renderers before the render. */
  #keptBytes = 0;
  /** Read at the first measurement of a render, so that short renders cost nothing. */
  #cpuBeforeMs: number | undefined;
  #bytes = 0;
  #reniced = false;
  #stopped = false;
  #probe: NodeJS.Timeout;
  readonly #network: NodeJS.Timeout;
  readonly #usage: NodeJS.Timeout;

  constructor(deps: WatchdogDeps) {
    const { chrome, limits, retire } = deps;
    this.#deps = deps;
    this.#pids = [chrome.pid];
    this.#shared = this.#pids;
    this.#probe = setTimeout(() => this.#check(), limits.probeMs);
    this.#network = setInterval(() => {
      if (!chrome.connected()) retire('unusable', CUT_OFF);
    }, NETWORK_MS);
    this.#usage = setInterval(() => this.#measure(), USAGE_MS);
  }

  /** The first page is open: records the memory of Chrome without a render. */
  ready(): void {
    if (this.#idleBytes !== undefined) return;
    this.#listProcesses(0);
    this.#idleBytes = this.#restBytes = sumOf(residentBytes, this.#shared);
  }

  /**
   * A render begins: starts measuring its memory and CPU. `keptBytes` is the memory of the
   * renderers from the renders before, if one is kept.
   */
  begin(keptBytes = 0): void {
    this.#rendering = true;
    this.#keptBytes = keptBytes;
    this.#cpuBeforeMs = undefined;
    this.#bytes = 0;
  }

  /** The render has ended: memory of the shared processes is not charged to the next render. */
  end(): void {
    this.#rendering = false;
    this.#restBytes = sumOf(residentBytes, this.#shared);
  }

  /** Memory growth of the shared processes from the first page to the end of the last one. */
  grownBytes(): number {
    return this.#restBytes - (this.#idleBytes ?? 0);
  }

  /**
   * Whether the render was close to its memory limit: V8 aborts shortly before the watchdog would.
   */
  nearMemoryLimit(): boolean {
    return this.#bytes > NEAR * this.#deps.limits.maxBytes;
  }

  /**
   * Whether the processes have a lower priority because a render exceeded its CPU share. An
   * unprivileged worker cannot raise the priority again.
   */
  reniced(): boolean {
    return this.#reniced;
  }

  /** Memory of the renderers, from a listing of processes that is not new. */
  rendererBytes(): number {
    this.#listProcesses(RENDERERS_MAX_AGE_MS);
    const renderers = this.#pids.filter(pid => !this.#shared.includes(pid));
    return sumOf(residentBytes, renderers);
  }

  /** Memory of all processes of this Chrome. */
  residentBytes(): number {
    return sumOf(residentBytes, this.#pids);
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#probe);
    clearInterval(this.#network);
    clearInterval(this.#usage);
  }

  #listProcesses(maxAgeMs?: number): void {
    const processes = this.#deps.chrome.processes(maxAgeMs);
    this.#pids = processes.map(({ pid }) => pid);
    this.#shared = processes.flatMap(({ type, pid }) => (type === 'renderer' ? [] : [pid]));
  }

  #measure(): void {
    const { chrome, limits, retire, log } = this.#deps;
    if (!this.#rendering) return;
    this.#listProcesses();
    this.#bytes = sumOf(residentBytes, this.#pids) - this.#restBytes - this.#keptBytes;
    if (this.#bytes > limits.maxBytes) {
      return retire(
        'memory',
        `the page used ${Math.round(this.#bytes / 2 ** 20)} MiB, more than the memory limit of a render`,
      );
    }
    const spentMs = sumOf(cpuMs, this.#pids);
    this.#cpuBeforeMs ??= spentMs;
    if (spentMs - this.#cpuBeforeMs <= CPU_SHARE_MS) return;
    if (!this.#reniced)
      log.warn(
        { pid: chrome.pid, cpuShareMs: CPU_SHARE_MS },
        'a render exceeded its CPU share and runs with a lower priority',
      );
    this.#reniced = true;
    renice(this.#pids, NICE);
  }

  async #check(): Promise<void> {
    const { chrome, limits, waiting, retire } = this.#deps;
    const { pipe } = chrome;
    const [beforeMs, sentAtMs, page] = [sumOf(cpuMs, this.#shared), performance.now(), waiting()];
    // Probes the browser process and the network process, which owns the cookies.
    const probes = Promise.all([
      pipe.command('Browser.getVersion'),
      pipe.command('Storage.getCookies'),
    ]);
    const [answered, pageAnswered] = await Promise.all([
      answersWithin(limits.probeMs, probes),
      page === undefined ||
        answersWithin(limits.probeMs, pipe.command('Runtime.getIsolateId', {}, page)),
    ]);
    if (this.#stopped) return;
    // While paused, the answers may be unread behind the events of the page.
    if (!answered && !pipe.paused()) {
      const busyMs = sumOf(cpuMs, this.#shared) - beforeMs;
      // With a lower priority, a busy Chrome may get little CPU.
      const byPage =
        this.#rendering && (this.#reniced || busyMs > BUSY_SHARE * (performance.now() - sentAtMs));
      return retire(
        byPage ? 'flooded' : 'hung',
        byPage ? 'the page kept Chrome too busy to respond' : 'Chrome is not responding',
      );
    }
    // A page that was claimed meanwhile may be busy with its render.
    if (!pageAnswered && waiting() === page)
      return retire('unusable', 'the page of a waiting slot is not responding');
    this.#listProcesses();
    this.#probe = setTimeout(() => this.#check(), limits.probeMs);
  }
}
