// CPU and memory of processes that run, as the kernel tells of them. Linux only.
import { readFileSync } from 'node:fs';
import { chromeProcesses } from '../fault/harness/chrome-processes.ts';

/** USER_HZ, which is 100 on every Linux that Node runs on. */
const MS_PER_TICK = 10;

/** Milliseconds of CPU since the process began, without its children. Throws when it is gone. */
export function cpuMsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13);
  return (Number(user) + Number(system)) * MS_PER_TICK;
}

/** Bytes of a field of `/proc/PID/status`; 0 when the process is gone. */
function bytesOf(pid: number, field: string): number {
  try {
    const text = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) * 1_024;
  } catch {
    return 0;
  }
}

/** Resident memory in MB (10^6 bytes): its own and what it shares with others. */
export const residentMb = (pid: number): number => bytesOf(pid, 'VmRSS') / 1e6;

/** Of all Chrome's processes below `pid`, in MB: what is not a file's, since those pages are one copy for all of them. */
export const chromeMb = (pid: number): number =>
  chromeProcesses(pid).reduce((sum, each) => sum + bytesOf(each.pid, 'RssAnon') + bytesOf(each.pid, 'RssShmem'), 0) / 1e6;
