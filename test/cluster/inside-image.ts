// Runs a program in the file system of an image as a container runtime does: with its user and
// environment, without capabilities, with only /tmp writable.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { eventually } from '../support/eventually.ts';
import type { Image } from './image-build.ts';

/**
 * The image becomes the root of a mount namespace. In a chroot, the kernel would not allow user
 * namespaces, which Chrome's sandbox needs. All mounts end with the last process.
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
  /** Its output so far, stdout and stderr. */
  output(): string;
  /** Resolves with the exit code; null after a signal. */
  ended: Promise<number | null>;
  /** The host PID of its first process while it runs. */
  pid(): number;
  /** Sends SIGTERM and resolves with the exit code. */
  stop(): Promise<number | null>;
  /** Kills it with all its child processes. */
  kill(): Promise<void>;
}

interface Options {
  /** A world-writable folder, mounted at /tmp. */
  tmp: string;
  /** Additional variables. */
  env?: Record<string, string>;
  /** Replaces the entry point of the image. */
  command?: string[];
  /** Replaces the user of the image: `uid:gid`. */
  user?: string;
}

const running = new Set<ChildProcess>();
// An aborted test run must not leave processes behind.
process.on('exit', () => {
  for (const child of running) signalFirst(child, 'SIGKILL');
});

/**
 * The PID of the first process of the namespace, the child of unshare; undefined before it starts.
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

/** Returns whether there was a process to signal. */
function signalFirst(unshare: ChildProcess, signal: NodeJS.Signals): boolean {
  const pid = firstProcess(unshare);
  return pid !== undefined && process.kill(pid, signal);
}

/** Starts the entry point of the image, or `command`. */
export function startInside(
  { root, config }: Image,
  { tmp, env = {}, command = config.Entrypoint, user: account = config.User }: Options,
): Inside {
  const [user, group] = account.split(':');
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
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk;
    });
  const ended = once(child, 'close').then(([code]) => {
    running.delete(child);
    return code as number | null;
  });
  const signal = (name: NodeJS.Signals) =>
    eventually(() => {
      if (running.has(child) && !signalFirst(child, name))
        throw new Error('no process is running in the image yet');
    });
  return {
    output: () => output,
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
