// Chrome's processes as the kernel tells of them: whose they are, and of which kind.
import { everyProcess, readProc, treeOf } from '../../support/processes.ts';

export interface ChromeProcess {
  pid: number;
  /**
   * `browser`, `renderer`, `gpu-process`, `zygote` … or `launcher`: the script by which a
   * distribution starts it, and which may stay.
   */
  kind: string;
}

const living = () => everyProcess().filter(({ isZombie }) => !isZombie);

/** The descendants of a process of the test. */
export function chromeProcesses(pid: number): ChromeProcess[] {
  const below = treeOf(pid, living()).filter(each => each.pid !== pid);
  const parentOf = new Map(below.map(each => [each.pid, each.parent]));
  const found = below.flatMap(({ pid: child }) => {
    const command = readProc(`${child}/cmdline`);
    if (!command.includes('--user-data-dir=') && !command.includes('--type=')) return [];
    const kind =
      /--type=([\w-]+)/.exec(command)?.[1] ??
      (/^\S*\b(?:ba|da)?sh\0/.test(command) ? 'launcher' : 'browser');
    return [{ pid: child, kind }];
  });
  // One that a browser has forked a moment ago still has the browser's command line.
  const browsers = new Set(found.filter(({ kind }) => kind === 'browser').map(each => each.pid));
  return found.filter(
    ({ pid: child, kind }) => kind !== 'browser' || !browsers.has(parentOf.get(child)!),
  );
}

/** Which of them still live; they keep their numbers when their parent has gone. */
export const stillAlive = (processes: readonly ChromeProcess[]): ChromeProcess[] => {
  const alive = new Set(living().map(({ pid }) => pid));
  return processes.filter(({ pid }) => alive.has(pid) && readProc(`${pid}/cmdline`).includes('--'));
};
