// Memory and CPU of processes, from /proc. Without /proc (not Linux) nothing is known.
import { readdirSync, readFileSync } from 'node:fs';
import { setPriority } from 'node:os';

/**
 * Anonymous and shared memory of a process in bytes. Mapped files (Chrome's own 200 MB of program) are
 * not counted. Undefined when the process is gone. Synchronous: the kernel answers from counters, and
 * the five steps of an asynchronous read were half of a busy worker's wake-ups.
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

/** Linux counts CPU in hundredths of a second (USER_HZ) on every platform that Node supports. */
const TICK_MS = 10;

/** CPU time of a process in ms, its own and the kernel's. Undefined when the process is gone. */
export function cpuMs(pid: number): number | undefined {
  try {
    // The name in parentheses may hold spaces; utime and stime are fields 14 and 15.
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1')
      .replace(/^.*\) /s, '')
      .split(' ');
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  } catch {
    return undefined;
  }
}

/** Sum of what is known of these processes. */
export const sumOf = (read: (pid: number) => number | undefined, pids: readonly number[]): number =>
  pids.reduce((sum, pid) => sum + (read(pid) ?? 0), 0);

/** Sets the nice value of every thread of a process: Linux keeps one for each. Errors are ignored: a thread may end meanwhile, and the worker may not be allowed. */
export function reniceThreads(pid: number, nice: number): void {
  try {
    for (const thread of readdirSync(`/proc/${pid}/task`)) setPriority(Number(thread), nice);
  } catch {}
}
