// Reads Chrome's processes from /proc: their parents and kinds.
import { everyProcess, readProc, treeOf } from '../../support/processes.ts';

export interface ChromeProcess {
  pid: number;
  /**
   * `browser`, `renderer`, `gpu-process`, `zygote` … or `launcher`: the start script of a
   * distribution, which may stay.
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
  // A process that was just forked still has the command line of the browser.
  const browsers = new Set(found.filter(({ kind }) => kind === 'browser').map(each => each.pid));
  return found.filter(
    ({ pid: child, kind }) => kind !== 'browser' || !browsers.has(parentOf.get(child)!),
  );
}

/** Those that still live. Their ids do not change when their parent ends. */
export const stillAlive = (processes: readonly ChromeProcess[]): ChromeProcess[] => {
  const alive = new Set(living().map(({ pid }) => pid));
  return processes.filter(({ pid }) => alive.has(pid) && readProc(`${pid}/cmdline`).includes('--'));
};
