// Runs another program with limits: a timeout, and an abort when the folder that it fills stops
// growing.
import { spawn } from 'node:child_process';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Prints one line on the terminal. */
export type Notify = (line: string) => void;

export interface RunOptions {
  timeoutMs: number;
  /**
   * Aborts when `folder` has not grown for `ms`: detects a blocked network in seconds without
   * aborting a slow download.
   */
  idle?: { folder: string; ms: number };
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  /** Runs it as this user and group; requires root. */
  uid?: number;
  /** Receives the output of the program. */
  onOutput?: (chunk: Buffer) => void;
}

export interface RunResult {
  ok: boolean;
  /** The first 64 KiB of stdout. */
  stdout: string;
  /** The cause of a failure in one line; empty on success. */
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

/** How long a program that has ended may still have unread output. */
const OUTPUT_MS = 1_000;

/** The line with the cause: the last one, but npm prints advice after it. */
const lastLine = (text: string) => {
  const lines = text.split('\n').map(line => line.trim());
  const why = lines.find(line => line.includes(' reason: ')) ?? lines.findLast(line => line !== '');
  return why?.slice(0, 300) ?? '';
};

/**
 * Runs `command` to its end. Never throws: a missing, failed or aborted program is a result with
 * `ok: false`.
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
    let abortReason = '';
    child.stdout.on('data', (chunk: Buffer) => {
      options.onOutput?.(chunk);
      if (stdout.length < 65_536) stdout += chunk.toString();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      options.onOutput?.(chunk);
      stderr = (stderr + chunk.toString()).slice(-4_096);
    });
    let killer: NodeJS.Timeout | undefined;
    const abort = (why: string) => {
      if (abortReason) return;
      abortReason = why;
      child.kill('SIGTERM');
      killer = setTimeout(() => child.kill('SIGKILL'), 2_000);
    };
    const timer = setTimeout(
      () => abort(`it did not finish within ${Math.round(options.timeoutMs / 1000)} s`),
      options.timeoutMs,
    );
    const { idle } = options;
    const growth =
      idle &&
      watchGrowth(idle.folder, idle.ms, () =>
        abort(`no data arrived for ${Math.round(idle.ms / 1000)} s`),
      );
    const finish = (ok: boolean, why: string) => {
      clearTimeout(timer);
      clearTimeout(killer);
      growth?.stop();
      // A remaining grandchild may hold the pipes open; its output is ignored.
      child.stdout.destroy();
      child.stderr.destroy();
      resolve({ ok, stdout, why });
    };
    child.once('error', error =>
      finish(
        false,
        (error as NodeJS.ErrnoException).code === 'ENOENT'
          ? `${command} is not installed`
          : error.message,
      ),
    );
    child.once('exit', (code, signal) => {
      const end = () => {
        clearTimeout(late);
        finish(
          code === 0,
          code === 0
            ? ''
            : abortReason || lastLine(stderr) || lastLine(stdout) || `ended with ${signal ?? code}`,
        );
      };
      // The pipes close when all output is read, unless a grandchild holds them open.
      child.once('close', end);
      const late = setTimeout(end, OUTPUT_MS);
    });
  });
}
