// Runs another program under bounds: a time limit, and an end when the folder it should be filling
// stops growing. Owns no knowledge of what is run.
import { spawn } from 'node:child_process';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** One line to the person at the terminal. */
export type Notify = (line: string) => void;

export interface RunOptions {
  timeoutMs: number;
  /**
   * Gives up when `folder` has not grown for `ms`: a network that is closed without saying so is
   * noticed in seconds, a slow one is not cut off.
   */
  idle?: { folder: string; ms: number };
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  /** Runs it as this user and group, which only root can. */
  uid?: number;
  /** Hears all that the program says. */
  onOutput?: (chunk: Buffer) => void;
}

export interface RunResult {
  ok: boolean;
  /** What the program wrote to stdout, at most 64 KiB of it. */
  stdout: string;
  /** In one line why it did not work; empty when it did. */
  why: string;
}

const folderBytes = async (folder: string): Promise<number> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const sizes = await Promise.all(
    entries
      .filter(entry => entry.isFile())
      .map(entry =>
        stat(join(entry.parentPath, entry.name)).then(
          ({ size }) => size,
          () => 0,
        ),
      ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
};

/** Calls `stalled` once when `folder` has not grown for `ms`. */
function watchGrowth(folder: string, ms: number, stalled: () => void): { stop(): void } {
  let bytes = 0;
  let grownAt = performance.now();
  const timer = setInterval(async () => {
    const now = await folderBytes(folder);
    if (now !== bytes) {
      bytes = now;
      grownAt = performance.now();
    } else if (performance.now() - grownAt > ms) stalled();
  }, 500);
  return { stop: () => clearInterval(timer) };
}

/** The line that says why: npm hides its own among advice, others end with it. */
const lastLine = (text: string) => {
  const lines = text.split('\n').map(line => line.trim());
  const why = lines.find(line => line.includes(' reason: ')) ?? lines.findLast(line => line !== '');
  return why?.slice(0, 300) ?? '';
};

/**
 * Runs `command` to its end. Never throws: a program that is missing, fails or is cut off is an
 * answer with `ok: false`.
 */
export function runCommand(
  command: string,
  args: string[],
  options: RunOptions,
): Promise<RunResult> {
  return new Promise(resolve => {
    const child = spawn(command, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      cwd: options.cwd,
      env: options.env ?? process.env,
      ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.uid }),
    });
    let stdout = '';
    let stderr = '';
    let cutOff = '';
    child.stdout.on('data', (chunk: Buffer) => {
      options.onOutput?.(chunk);
      if (stdout.length < 65_536) stdout += chunk.toString();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      options.onOutput?.(chunk);
      stderr = (stderr + chunk.toString()).slice(-4_096);
    });
    let killer: NodeJS.Timeout | undefined;
    const cut = (why: string) => {
      if (cutOff) return;
      cutOff = why;
      child.kill('SIGTERM');
      killer = setTimeout(() => child.kill('SIGKILL'), 2_000);
    };
    const timer = setTimeout(
      () => cut(`still not done after ${Math.round(options.timeoutMs / 1000)} s`),
      options.timeoutMs,
    );
    const { idle } = options;
    const growth =
      idle &&
      watchGrowth(idle.folder, idle.ms, () =>
        cut(`nothing arrived for ${Math.round(idle.ms / 1000)} s`),
      );
    const finish = (ok: boolean, why: string) => {
      clearTimeout(timer);
      clearTimeout(killer);
      growth?.stop();
      // A grandchild that was left behind may hold the pipes open: what it still says is of no
      // interest.
      child.stdout.destroy();
      child.stderr.destroy();
      resolve({ ok, stdout, why });
    };
    child.once('error', error =>
      finish(
        false,
        (error as NodeJS.ErrnoException).code === 'ENOENT'
          ? `${command} is not there`
          : error.message,
      ),
    );
    child.once('exit', (code, signal) => {
      // The pipes may still hold the last words: take them before they are closed.
      setImmediate(() =>
        finish(
          code === 0,
          code === 0
            ? ''
            : cutOff || lastLine(stderr) || lastLine(stdout) || `ended with ${signal ?? code}`,
        ),
      );
    });
  });
}
