// Runs a program in the file system of an image as a container runtime would: its user, its
// environment, no capability, nothing writable but /tmp.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { eventually } from '../support/eventually.ts';
import type { Image } from './image-build.ts';

/**
 * The image becomes the root of a mount namespace, where chroot would only change the root of a
 * process: the kernel gives no user namespace, and so Chrome no sandbox, to whoever lives in a
 * chroot. All mounts are gone with the last process.
 */
const ENTER = `set -e
root=$1 tmp=$2 user=$3 group=$4 folder=$5; shift 5
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --rbind /sys "$root/sys"
mount --bind "$tmp" "$root/tmp"
mount -o remount,bind,ro "$root"
cd "$root"
pivot_root . .
umount -l .
cd "$folder"
exec setpriv --reuid "$user" --regid "$group" --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all -- "$@"
`;

export interface Inside {
  /** What it wrote so far, to stdout and stderr. */
  said(): string;
  /** Resolves with the exit code; null after a signal. */
  ended: Promise<number | null>;
  /** The number of its first process, as seen from here, while it runs. */
  pid(): number;
  /** SIGTERM, as a runtime sends it, then the exit code. */
  stop(): Promise<number | null>;
  /** Ends it at once, with all that it has started. */
  kill(): Promise<void>;
}

interface Options {
  /** A folder that everybody may write: its /tmp. */
  tmp: string;
  /** Beside the image's own. */
  env?: Record<string, string>;
  /** In place of the image's entry point. */
  command?: string[];
}

const running = new Set<ChildProcess>();
// A run that is broken off must not leave them behind.
process.on('exit', () => {
  for (const child of running) signalFirst(child, 'SIGKILL');
});

/**
 * The child of unshare is the first process of the namespace, with which all others end; undefined
 * before it is there.
 */
function firstProcess(unshare: ChildProcess): number | undefined {
  try {
    return (
      Number(readFileSync(`/proc/${unshare.pid}/task/${unshare.pid}/children`, 'utf8').trim()) ||
      undefined
    );
  } catch {
    return undefined;
  }
}

/** False when nothing was there to hear it. */
function signalFirst(unshare: ChildProcess, signal: NodeJS.Signals): boolean {
  const pid = firstProcess(unshare);
  return pid !== undefined && process.kill(pid, signal);
}

/** Starts the image's entry point, or `command`, inside of it. */
export function startInside(
  { root, config }: Image,
  { tmp, env = {}, command = config.Entrypoint }: Options,
): Inside {
  const [user, group] = config.User.split(':');
  const where = [root, tmp, user!, group!, config.WorkingDir];
  const child = spawn(
    'unshare',
    ['--mount', '--pid', '--fork', '--', 'sh', '-c', ENTER, 'sh', ...where, ...command],
    {
      env: {
        ...Object.fromEntries(
          config.Env.map(line => [
            line.slice(0, line.indexOf('=')),
            line.slice(line.indexOf('=') + 1),
          ]),
        ),
        ...(process.env.PRESSROOM_TEST_RUN && {
          PRESSROOM_TEST_RUN: process.env.PRESSROOM_TEST_RUN,
        }),
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  running.add(child);
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      said += chunk;
    });
  const ended = once(child, 'close').then(([code]) => {
    running.delete(child);
    return code as number | null;
  });
  const signal = (name: NodeJS.Signals) =>
    eventually(() => {
      if (running.has(child) && !signalFirst(child, name))
        throw new Error('nothing runs in the image yet');
    });
  return {
    said: () => said,
    ended,
    pid: () => firstProcess(child)!,
    stop: async () => {
      await signal('SIGTERM');
      return await ended;
    },
    kill: async () => {
      await signal('SIGKILL');
      await ended;
    },
  };
}
