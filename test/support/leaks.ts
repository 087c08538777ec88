// Detects leaked sockets, servers, timers, files and child processes. hooks.ts decides when.
import { readdirSync, readFileSync } from 'node:fs';

/**
 * An environment variable that all descendants of the run inherit. It identifies orphaned
 * processes.
 */
const MARK = 'PRESSROOM_TEST_RUN';

export const markChildren = (): void => {
  process.env[MARK] = String(process.pid);
};

const read = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
};

/**
 * Running processes of this run: its descendants, and orphans with the mark or with one of its
 * browser profiles.
 */
export function leakedProcesses(): string[] {
  const stats = readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(name => ({
      pid: Number(name),
      stat: read(`/proc/${name}/stat`)
        .replace(/^.*\) /, '')
        .split(' '),
    }))
    .filter(({ stat }) => stat[0] !== '' && stat[0] !== 'Z');
  const own = new Set([process.pid]);
  for (let size = 0; size !== own.size; ) {
    size = own.size;
    for (const { pid, stat } of stats) if (own.has(Number(stat[1]))) own.add(pid);
  }
  const marked = (pid: number) =>
    read(`/proc/${pid}/environ`).split('\0').includes(`${MARK}=${process.pid}`);
  return stats
    .filter(({ pid }) => pid !== process.pid)
    .map(({ pid }) => ({ pid, command: read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim() }))
    .filter(
      ({ pid, command }) =>
        own.has(pid) || marked(pid) || command.includes(`pressroom-chrome-${process.pid}-`),
    )
    .map(({ pid, command }) => `process ${pid}: ${command.slice(0, 160)}`);
}

interface Handle {
  constructor: { name: string };
  remoteAddress?: string;
  remotePort?: number;
  spawnfile?: string;
  address?: () => unknown;
}

/** A handle that is being closed may throw. */
function addressOf(address: () => unknown): string {
  try {
    return JSON.stringify(address());
  } catch {
    return 'a closed address';
  }
}

const describe = (handle: Handle): string => {
  const { name } = handle.constructor;
  if (handle.remotePort) return `${name} to ${handle.remoteAddress}:${handle.remotePort}`;
  if (handle.spawnfile) return `${name} ${handle.spawnfile}`;
  return typeof handle.address === 'function'
    ? `${name} at ${addressOf(() => handle.address!())}`
    : name;
};

/** The active resources by kind, without those that are unref'd. */
export function openResources(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo())
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}

/** Resources of the test runner: its next step and reads in progress. */
const NOT_OURS = new Set([
  'Immediate',
  'TickObject',
  'FSReqCallback',
  'FSReqPromise',
  'TTYWrap',
  'CloseReq',
]);

/** The resources beyond `before`, with details of the open handles. */
export function leakedResources(before: Map<string, number>): string[] {
  const more = [...openResources()]
    .filter(([kind, count]) => !NOT_OURS.has(kind) && count > (before.get(kind) ?? 0))
    .map(([kind, count]) => `${count - (before.get(kind) ?? 0)} × ${kind}`);
  if (more.length === 0) return [];
  const handles = (process as unknown as { _getActiveHandles(): Handle[] })._getActiveHandles();
  return [...more, `the open handles are: ${handles.map(describe).join(', ')}`];
}
