// What a run must not leave behind: sockets, servers, timers, files, child processes. Says what is
// there; hooks.ts decides when to look.
import { readdirSync, readFileSync } from 'node:fs';

/**
 * In the environment of every process that the tests start, and so of what those start: an orphan
 * is found by it, whoever its parent is by then.
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
 * Living processes that the run has started: its descendants, and orphans that carry the mark or a
 * browser profile of ours.
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
  const ours = new Set([process.pid]);
  for (let size = 0; size !== ours.size; ) {
    size = ours.size;
    for (const { pid, stat } of stats) if (ours.has(Number(stat[1]))) ours.add(pid);
  }
  const marked = (pid: number) =>
    read(`/proc/${pid}/environ`).split('\0').includes(`${MARK}=${process.pid}`);
  return stats
    .filter(({ pid }) => pid !== process.pid)
    .map(({ pid }) => ({ pid, command: read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim() }))
    .filter(
      ({ pid, command }) =>
        ours.has(pid) || marked(pid) || command.includes(`pressroom-chrome-${process.pid}-`),
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

/** One that is being closed may refuse to say. */
function placeOf(address: () => unknown): string {
  try {
    return JSON.stringify(address());
  } catch {
    return 'no place any more';
  }
}

const describe = (handle: Handle): string => {
  const { name } = handle.constructor;
  if (handle.remotePort) return `${name} to ${handle.remoteAddress}:${handle.remotePort}`;
  if (handle.spawnfile) return `${name} ${handle.spawnfile}`;
  return typeof handle.address === 'function'
    ? `${name} at ${placeOf(() => handle.address!())}`
    : name;
};

/**
 * What keeps the process alive, by kind; only the public list counts, since it leaves out what was
 * unref'd.
 */
export function openResources(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo())
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}

/** These are the runner's own: its next step, and reads that are under way. */
const NOT_OURS = new Set([
  'Immediate',
  'TickObject',
  'FSReqCallback',
  'FSReqPromise',
  'TTYWrap',
  'CloseReq',
]);

/** What is open beyond `before`, with details where Node has them. */
export function leakedResources(before: Map<string, number>): string[] {
  const more = [...openResources()]
    .filter(([kind, count]) => !NOT_OURS.has(kind) && count > (before.get(kind) ?? 0))
    .map(([kind, count]) => `${count - (before.get(kind) ?? 0)} × ${kind}`);
  if (more.length === 0) return [];
  const handles = (process as unknown as { _getActiveHandles(): Handle[] })._getActiveHandles();
  return [...more, `the open handles are: ${handles.map(describe).join(', ')}`];
}
