// How much memory processes hold, from /proc, and the watchdog that ends a renderer before the pod's limit is met. Without /proc (not Linux) it knows nothing and ends nothing.
import { readFileSync } from 'node:fs';
import type { Service } from '../common/lifecycle.ts';
import type { Log } from '../common/log.ts';
import { type Chrome, killQuietly } from './chrome.ts';

/**
 * Anonymous and shared memory of a process in bytes; mapped files (Chrome's own 200 MB of program) are not counted. Undefined when it is gone or /proc is not there.
 * Read at once: the kernel writes these lines from its counters and waits for nobody, while the five steps of a file that is read beside the event loop were half of
 * what a busy worker woke up for.
 */
export function residentBytes(pid: number): number | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const kib = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1] ?? 0);
    return (kib('RssAnon') + kib('RssShmem')) * 1024;
  } catch {
    return undefined;
  }
}

interface Deps {
  /** The most that one renderer may hold. */
  maxBytes: number;
  /** The most that the browser process may hold. It serves every slot, so beyond it the whole Chrome is ended. */
  maxBrowserBytes: number;
  intervalMs: number;
  /** Chromes to look at now: those with a slot in use. */
  watched(): Chrome[];
  /** A process that all slots of a Chrome share outgrew its memory: it must be ended. */
  onOutgrown(chrome: Chrome): void;
  log: Log;
}

export interface MemoryWatchdog extends Service {
  /** True when a renderer of this Chrome was ended for its memory in the last few seconds: the crash that follows has this cause. */
  killedRecently(chrome: Chrome): boolean;
}

const RECENT_MS = 5_000;

/**
 * CDP does not tell which context a renderer belongs to, so each renderer is held to the limit by itself: a page has one of its own, and frames of
 * other sites have theirs. Killing the process makes Chrome report the crash to the page it belonged to.
 */
export function createMemoryWatchdog({ maxBytes, maxBrowserBytes, intervalMs, watched, onOutgrown, log }: Deps): MemoryWatchdog {
  const killed = new WeakMap<Chrome, number>();
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  async function look(chrome: Chrome): Promise<void> {
    for (const { type, id } of await chrome.processes()) {
      const limit = type === 'browser' ? maxBrowserBytes : maxBytes;
      const bytes = residentBytes(id);
      if (bytes === undefined || bytes <= limit) continue;
      if (type !== 'renderer') {
        log.error({ pid: id, type, bytes, limit }, 'a process that all slots share outgrew its memory, its chrome is ended');
        onOutgrown(chrome);
        return;
      }
      log.warn({ pid: id, bytes, maxBytes }, 'a renderer outgrew its memory and is ended');
      killed.set(chrome, performance.now());
      killQuietly(id);
    }
  }

  async function tick(): Promise<void> {
    await Promise.allSettled(watched().map(look));
    if (!stopped) timer = setTimeout(tick, intervalMs);
  }

  return {
    name: 'memory watchdog',
    killedRecently: chrome => performance.now() - (killed.get(chrome) ?? Number.NEGATIVE_INFINITY) < RECENT_MS,
    start: async () => {
      timer = setTimeout(tick, intervalMs);
    },
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
