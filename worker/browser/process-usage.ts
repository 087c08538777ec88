// The processes of a Chrome and their memory and CPU, read from /proc. Without /proc (not Linux)
// nothing is known.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';

export interface ChromeProcess {
  pid: number;
  /** Chrome's own name for it: `browser`, `renderer`, `zygote`, `network.mojom.NetworkService`. */
  type: string;
}

/** The watchdogs of all slots share one reading of the process table. */
const TABLE_MS = 200;
let table = { readMs: Number.NEGATIVE_INFINITY, children: new Map<number, number[]>() };

/** The fields from the third on. The name before them, in parentheses, may contain spaces. */
const statOf = (pid: number | string): string[] =>
  readFileSync(`/proc/${pid}/stat`, 'latin1')
    .replace(/^.*\) /s, '')
    .split(' ');

function readChildren(): Map<number, number[]> {
  const children = new Map<number, number[]>();
  const seen = new Set<number>();
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (Number.isNaN(pid)) continue;
    try {
      const parent = Number(statOf(pid)[1]);
      seen.add(pid);
      children.set(parent, [...(children.get(parent) ?? []), pid]);
    } catch {} // The process has exited.
  }
  for (const pid of types.keys()) if (!seen.has(pid)) types.delete(pid);
  return children;
}

/**
 * Cached process types: reading a command line is slow while that process is short of memory. Not
 * cached for zygotes, whose children are zygotes until they get their own type.
 */
const types = new Map<number, string>();

/** Undefined when the process has exited. */
function typeOf(pid: number): string | undefined {
  const known = types.get(pid);
  if (known) return known;
  try {
    const line = readFileSync(`/proc/${pid}/cmdline`, 'latin1');
    const type =
      /--utility-sub-type=([\w.]+)/.exec(line)?.[1] ??
      /--type=([\w-]+)/.exec(line)?.[1] ??
      'browser';
    if (type !== 'browser' && type !== 'zygote') types.set(pid, type);
    return type;
  } catch {
    return undefined;
  }
}

/**
 * A browser process and its descendants, from a listing at most `maxAgeMs` old. Read from /proc,
 * since a Chrome that is kept busy by its page does not answer and may start processes meanwhile.
 */
export function processesOf(browserPid: number, maxAgeMs = TABLE_MS): ChromeProcess[] {
  const nowMs = performance.now();
  if (nowMs - table.readMs >= maxAgeMs && existsSync('/proc/self'))
    table = { readMs: nowMs, children: readChildren() };
  const pids = [browserPid];
  for (const pid of pids) pids.push(...(table.children.get(pid) ?? []));
  return pids.flatMap(pid => {
    const type = typeOf(pid);
    return type === undefined ? [] : [{ pid, type }];
  });
}

/**
 * Anonymous and shared memory of a process in bytes, without mapped files (Chrome's program, 200
 * MB). Undefined when the process has exited. Synchronous: the kernel answers from counters, and
 * asynchronous reads caused half of a busy worker's wake-ups.
 */
export function residentBytes(pid: number): number | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const kib = (name: string) =>
      Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1] ?? 0);
    return (kib('RssAnon') + kib('RssShmem')) * 1024;
  } catch {
    return undefined;
  }
}

/** USER_HZ is 100 on every Linux platform that Node supports. */
const TICK_MS = 10;

/** User and system CPU time of a process in ms. Undefined when the process has exited. */
export function cpuMs(pid: number): number | undefined {
  try {
    const fields = statOf(pid); // utime and stime are fields 14 and 15
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  } catch {
    return undefined;
  }
}

/** The sum over these processes; unknown values count as 0. */
export const sumOf = (read: (pid: number) => number | undefined, pids: readonly number[]): number =>
  pids.reduce((sum, pid) => sum + (read(pid) ?? 0), 0);

const sessionOf = (pid: number | string): string => statOf(pid)[3]!;

/**
 * Sets the nice value of a browser process and its descendants. Errors are ignored: a process may
 * exit meanwhile, and the worker may lack the permission.
 */
export function renice(processes: readonly number[], nice: number): void {
  for (const pid of processes) {
    try {
      // On Linux the nice value belongs to a thread.
      for (const thread of readdirSync(`/proc/${pid}/task`)) setPriority(Number(thread), nice);
    } catch {}
  }
  try {
    // Outside containers Linux divides the CPU between sessions first (sched(7), autogroup), and
    // nice values apply within a session. A Chrome with its own session needs both.
    const [browser] = processes;
    if (browser !== undefined && sessionOf(browser) !== sessionOf('self'))
      writeFileSync(`/proc/${browser}/autogroup`, String(nice));
  } catch {}
}
