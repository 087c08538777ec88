// Processes of a Chrome, their memory and CPU, from /proc. Without /proc (not Linux) nothing is
// known.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';

export interface ChromeProcess {
  pid: number;
  /** Chrome's own name for it: `browser`, `renderer`, `zygote`, `network.mojom.NetworkService`. */
  type: string;
}

/** One reading of the process table serves the watchdogs of all slots. */
const TABLE_MS = 200;
let table = { readMs: Number.NEGATIVE_INFINITY, children: new Map<number, number[]>() };

/** The name in parentheses may hold spaces: the fields after it, from the third. */
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
    } catch {} // It has ended.
  }
  for (const pid of types.keys()) if (!seen.has(pid)) types.delete(pid);
  return children;
}

/**
 * Read once for a process that keeps its type: the kernel reads a command line in the memory of its
 * process, which is slow while that one is short of memory. A child of a zygote is a zygote until
 * it has its own.
 */
const types = new Map<number, string>();

/** Undefined when the process is gone. */
function typeOf(pid: number): string | undefined {
  return types.get(pid) ?? readType(pid);
}

function readType(pid: number): string | undefined {
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
 * A browser process and all below it, as they were at most `maxAgeMs` ago. Not asked of Chrome: one
 * that its page keeps busy does not answer, and may start processes meanwhile.
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
 * Anonymous and shared memory of a process in bytes. Mapped files (Chrome's own 200 MB of program)
 * are not counted. Undefined when the process is gone. Synchronous: the kernel answers from
 * counters, and the five steps of an asynchronous read were half of a busy worker's wake-ups.
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

/** Linux counts CPU in hundredths of a second (USER_HZ) on every platform that Node supports. */
const TICK_MS = 10;

/** CPU time of a process in ms, its own and the kernel's. Undefined when the process is gone. */
export function cpuMs(pid: number): number | undefined {
  try {
    const fields = statOf(pid); // utime and stime are fields 14 and 15
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  } catch {
    return undefined;
  }
}

/** Sum of what is known of these processes. */
export const sumOf = (read: (pid: number) => number | undefined, pids: readonly number[]): number =>
  pids.reduce((sum, pid) => sum + (read(pid) ?? 0), 0);

const sessionOf = (pid: number | string): string => statOf(pid)[3]!;

/**
 * Sets the nice value of a browser process and all below it. Errors are ignored: a process may end
 * meanwhile, and the worker may not be allowed.
 */
export function renice(processes: readonly number[], nice: number): void {
  for (const pid of processes) {
    try {
      // Linux keeps one for each thread.
      for (const thread of readdirSync(`/proc/${pid}/task`)) setPriority(Number(thread), nice);
    } catch {}
  }
  try {
    // Outside containers Linux shares the CPU between sessions first (sched(7), autogroup). The
    // values of threads count only within a session: a Chrome that has one of its own needs more.
    const [browser] = processes;
    if (browser !== undefined && sessionOf(browser) !== sessionOf('self'))
      writeFileSync(`/proc/${browser}/autogroup`, String(nice));
  } catch {}
}
