// Watches one Chrome: signs of life, its network process, and while a render runs the memory and
// CPU of its process tree.
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

/**
 * `flooded`: Chrome does not answer because its page keeps it busy. The others are not the page's
 * doing, but for `memory`.
 */
export type Fault = 'hung' | 'unusable' | 'memory' | 'flooded';

interface WatchdogDeps {
  chrome: Chrome;
  limits: WatchdogLimits;
  /** The session of the page that waits for a render, if one does. */
  waiting(): string | undefined;
  condemn(fault: Fault, message: string): void;
  log: Log;
}

export const CUT_OFF = "the process of Chrome's network died";

/**
 * A render that runs while its network dies must end before it is printed; looking costs nothing.
 */
const NETWORK_MS = 100;
const USAGE_MS = 250;
/** A 20-page report takes 0.3 s. Beyond this share a render gets what the others leave. */
const CPU_SHARE_MS = 2_000;
const NICE = 10;
/**
 * A browser that hangs by itself, frozen for instance, uses no CPU. One that its page keeps busy
 * does.
 */
const BUSY_SHARE = 0.1;
const NEAR = 0.7;

/** Watches from its construction until `stop`. */
export class Watchdog {
  readonly #deps: WatchdogDeps;
  #pids: number[];
  /** The processes that all pages share. */
  #shared: number[];
  #rendering = false;
  /** What the shared processes held before the first page, and after the last. */
  #idleBytes: number | undefined;
  #restBytes = 0;
  /** Read at the first look of a render, so that a short one costs nothing. */
  #cpuBeforeMs: number | undefined;
  #bytes = 0;
  #reniced = false;
  #stopped = false;
  #probe: NodeJS.Timeout;
  readonly #network: NodeJS.Timeout;
  readonly #usage: NodeJS.Timeout;

  constructor(deps: WatchdogDeps) {
    const { chrome, limits, condemn } = deps;
    this.#deps = deps;
    this.#pids = [chrome.pid];
    this.#shared = this.#pids;
    this.#probe = setTimeout(() => this.#check(), limits.probeMs);
    this.#network = setInterval(() => {
      if (!chrome.connected()) condemn('unusable', CUT_OFF);
    }, NETWORK_MS);
    this.#usage = setInterval(() => this.#measure(), USAGE_MS);
  }

  /** The first page waits: what Chrome holds now is not a page's. */
  ready(): void {
    if (this.#idleBytes !== undefined) return;
    this.#listProcesses(0);
    this.#idleBytes = this.#restBytes = sumOf(residentBytes, this.#shared);
  }

  /** A render begins: its memory and CPU count from now. */
  begin(): void {
    this.#rendering = true;
    this.#cpuBeforeMs = undefined;
    this.#bytes = 0;
  }

  /**
   * The render is over: what the processes that outlive its page hold now is not the next one's.
   */
  end(): void {
    this.#rendering = false;
    this.#restBytes = sumOf(residentBytes, this.#shared);
  }

  /**
   * What the processes that outlive a page have gained from the first page to the end of the last.
   */
  grownBytes(): number {
    return this.#restBytes - (this.#idleBytes ?? 0);
  }

  /**
   * The page's process died close to the memory limit: V8 ends itself just before the watchdog
   * would.
   */
  nearMemoryLimit(): boolean {
    return this.#bytes > NEAR * this.#deps.limits.maxBytes;
  }

  /**
   * The render used more than its share of CPU and its processes have a lower priority, which
   * cannot be taken back.
   */
  reniced(): boolean {
    return this.#reniced;
  }

  /** What the processes of this Chrome hold together. */
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
    const { chrome, limits, condemn, log } = this.#deps;
    if (!this.#rendering) return;
    this.#listProcesses();
    this.#bytes = sumOf(residentBytes, this.#pids) - this.#restBytes;
    if (this.#bytes > limits.maxBytes) {
      return condemn(
        'memory',
        `the page used ${Math.round(this.#bytes / 2 ** 20)} MiB, more memory than a render may`,
      );
    }
    const spentMs = sumOf(cpuMs, this.#pids);
    this.#cpuBeforeMs ??= spentMs;
    if (spentMs - this.#cpuBeforeMs <= CPU_SHARE_MS) return;
    if (!this.#reniced)
      log.warn(
        { pid: chrome.pid, cpuShareMs: CPU_SHARE_MS },
        'a render used more than its share of CPU and gets a lower priority',
      );
    this.#reniced = true;
    renice(this.#pids, NICE);
  }

  async #check(): Promise<void> {
    const { chrome, limits, waiting, condemn } = this.#deps;
    const { pipe } = chrome;
    const [beforeMs, sentAtMs, page] = [sumOf(cpuMs, this.#shared), performance.now(), waiting()];
    // Of the browser's process, and of the one that is the network of all pages: cookies are kept
    // there.
    const signs = Promise.all([
      pipe.command('Browser.getVersion'),
      pipe.command('Storage.getCookies'),
    ]);
    const [answered, pageAnswered] = await Promise.all([
      answersWithin(limits.probeMs, signs),
      page === undefined ||
        answersWithin(limits.probeMs, pipe.command('Runtime.getIsolateId', {}, page)),
    ]);
    if (this.#stopped) return;
    // What it has answered may wait unread behind the events of its page, which its memory limit
    // bounds.
    if (!answered && !pipe.paused()) {
      const busyMs = sumOf(cpuMs, this.#shared) - beforeMs;
      const byPage = this.#rendering && busyMs > BUSY_SHARE * (performance.now() - sentAtMs);
      return condemn(
        byPage ? 'flooded' : 'hung',
        byPage ? 'the page kept its browser too busy to answer' : 'Chrome does not answer',
      );
    }
    // One that was claimed meanwhile may be busy with its render.
    if (!pageAnswered && waiting() === page)
      return condemn('unusable', 'the page of a waiting slot does not answer');
    this.#listProcesses();
    this.#probe = setTimeout(() => this.#check(), limits.probeMs);
  }
}
