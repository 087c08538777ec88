// Chrome's processes as the kernel tells of them: whose they are, and of which kind.
import { readdirSync, readFileSync } from 'node:fs';

export interface ChromeProcess {
  pid: number;
  /** `browser`, `renderer`, `gpu-process`, `zygote` … or `launcher`: the script by which a distribution starts it, and which may stay. */
  kind: string;
}

const read = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
};

/** Each living process with its parent. */
function parents(): Map<number, number> {
  const found = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const [state = 'Z', parent] = read(`/proc/${name}/stat`)
      .replace(/^.*\) /s, '')
      .split(' ');
    if (state !== 'Z' && parent !== undefined) found.set(Number(name), Number(parent));
  }
  return found;
}

/** Those below a process of ours. */
export function chromeProcesses(pid: number): ChromeProcess[] {
  const parentOf = parents();
  const below = (child: number): boolean => {
    for (let at = parentOf.get(child); at !== undefined && at > 1; at = parentOf.get(at)) if (at === pid) return true;
    return false;
  };
  const found = [...parentOf.keys()].filter(below).flatMap(child => {
    const command = read(`/proc/${child}/cmdline`);
    if (!command.includes('--user-data-dir=') && !command.includes('--type=')) return [];
    const kind = /--type=([\w-]+)/.exec(command)?.[1] ?? (/^\S*\b(?:ba|da)?sh\0/.test(command) ? 'launcher' : 'browser');
    return [{ pid: child, kind }];
  });
  // One that a browser has forked a moment ago still has the browser's command line.
  const browsers = new Set(found.filter(({ kind }) => kind === 'browser').map(each => each.pid));
  return found.filter(({ pid: child, kind }) => kind !== 'browser' || !browsers.has(parentOf.get(child)!));
}

/** Which of them still live; they keep their numbers when their parent has gone. */
export const stillAlive = (processes: readonly ChromeProcess[]): ChromeProcess[] => {
  const alive = parents();
  return processes.filter(({ pid }) => alive.has(pid) && read(`/proc/${pid}/cmdline`).includes('--'));
};
