// A mongod process that ends with this process, even after kill -9. Owns the process, its log file
// and the end of a leftover predecessor.
import { spawn } from 'node:child_process';
import { createWriteStream, existsSync, renameSync, type WriteStream } from 'node:fs';
import { readFile, realpath } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { Duplex, Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { killQuietly } from '../worker/browser/chrome.ts';
import { isAlive } from '../worker/browser/profile.ts';

export interface MongodProcess {
  readonly pid: number;
  /** Settles with the cause when the process has ended. */
  readonly exited: Promise<string>;
  /**
   * Sends SIGTERM, and SIGKILL after `graceMs` (immediately for 0). A second call waits for the
   * first.
   */
  stop(graceMs?: number): Promise<void>;
}

/**
 * Wrapper that ends mongod on end of file of descriptor 3. Only this process holds the other end,
 * and kill -9 closes it too. Ctrl-C reaches the whole process group, so the wrapper ignores it. It
 * returns mongod's process id through the same descriptor.
 */
const WRAPPER = `
trap '' INT HUP
"$@" 3<&- & mongod=$!
echo $mongod >&3
( exec >/dev/null 2>&1; read -r _ <&3; kill -TERM $mongod ) & watcher=$!
wait $mongod; code=$?
kill $watcher 2>/dev/null
exit $code`;

const MAX_LOG_BYTES = 8 * 2 ** 20;

/** Keeps the last 8 to 16 MiB of mongod's output in the current file and the previous one. */
function boundedLog(file: string) {
  let stream: WriteStream | undefined;
  let bytes = 0;
  return {
    write(line: string) {
      if (!stream || bytes > MAX_LOG_BYTES) {
        stream?.end();
        bytes = 0;
        if (existsSync(file)) renameSync(file, `${file}.1`);
        stream = createWriteStream(file, { mode: 0o600 });
        // On a full disk the log is lost, but this process continues.
        stream.on('error', () => {});
      }
      bytes += line.length + 1;
      stream.write(`${line}\n`);
    },
    close: () => new Promise<void>(resolve => (stream ? stream.end(() => resolve()) : resolve())),
  };
}

const goneWithin = async (pid: number, ms: number): Promise<boolean> => {
  for (const end = performance.now() + ms; performance.now() < end; await sleep(20))
    if (!isAlive(pid)) return true;
  return !isAlive(pid);
};

/**
 * Ends a mongod on `dbPath` that a killed process left behind. Its command line must name that
 * folder, since process ids are reused.
 */
export async function stopPredecessor(dbPath: string): Promise<boolean> {
  const pid = Number((await readFile(`${dbPath}/mongod.lock`, 'utf8').catch(() => '')).trim());
  if (!Number.isSafeInteger(pid) || pid < 2 || !isAlive(pid)) return false;
  const args = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0');
  const named = (args[args.indexOf('--dbpath') + 1] ?? '').replace('/proc/self/', `/proc/${pid}/`);
  if (
    !args[0]?.includes('mongod') ||
    (await realpath(named).catch(() => named)) !== (await realpath(dbPath))
  )
    return false;
  process.kill(pid, 'SIGTERM');
  if (!(await goneWithin(pid, 10_000))) {
    process.kill(pid, 'SIGKILL');
    if (!(await goneWithin(pid, 5_000)))
      throw new Error(
        `Cannot stop the mongod (process ${pid}) that is running on ${dbPath}. Stop it and start again.`,
      );
  }
  return true;
}

const firstLine = (stream: Duplex) =>
  new Promise<string>(resolve => {
    stream.once('data', (chunk: Buffer) => resolve(chunk.toString().trim()));
    stream.once('close', () => resolve(''));
  });

/** The error in a JSON log line of mongod, for the message of a failed start. */
const errorIn = (line: string): string => {
  try {
    const { s, msg, attr } = JSON.parse(line) as {
      s: string;
      msg: string;
      attr?: { error?: unknown };
    };
    return s === 'E' || s === 'F'
      ? `${msg}${attr?.error ? ` ${JSON.stringify(attr.error)}` : ''}`
      : '';
  } catch {
    return line.trim();
  }
};

/**
 * Starts mongod in the folder `cwd`, as the user `uid` if given, and waits until it listens. Throws
 * an Error with mongod's own message when it ends first.
 */
export async function spawnMongod(
  binary: string,
  args: string[],
  dbPath: string,
  logFile: string,
  { uid, cwd = '/' }: { uid?: number | undefined; cwd?: string } = {},
): Promise<MongodProcess> {
  const command = ['-c', WRAPPER, 'mongod-wrapper', binary, '--dbpath', dbPath, ...args];
  const child = spawn('/bin/sh', command, {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    cwd,
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  const lifeline = child.stdio[3] as Duplex;
  lifeline.on('error', () => {});
  const log = boundedLog(logFile);
  const listening = Promise.withResolvers<true>();
  let mongodError = '';
  for (const stream of [child.stdout, child.stderr] as Readable[]) {
    createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY }).on('line', line => {
      log.write(line);
      if (line.includes('"Waiting for connections"')) listening.resolve(true);
      mongodError ||= errorIn(line);
    });
  }
  const exited = new Promise<string>(resolve => {
    child.once('error', error => resolve(error.message));
    child.once('close', (code, signal) =>
      resolve(signal ? `killed by ${signal}` : `exit code ${code}`),
    );
  }).then(async how => {
    lifeline.destroy();
    await log.close();
    return how;
  });
  const pid = Number(await firstLine(lifeline));
  const kill = (signal: NodeJS.Signals) => killQuietly(pid, signal);
  let gone = false;
  void exited.then(() => {
    gone = true;
  });
  const stop = async (graceMs = 10_000) => {
    if (!gone) kill(graceMs > 0 ? 'SIGTERM' : 'SIGKILL');
    const timer = setTimeout(() => gone || kill('SIGKILL'), graceMs);
    await exited;
    clearTimeout(timer);
  };
  const timer = setTimeout(() => kill('SIGKILL'), 60_000);
  const how = await Promise.race([listening.promise, exited]);
  clearTimeout(timer);
  if (how !== true)
    throw new Error(
      `mongod did not start (${how})${mongodError ? `: ${mongodError}` : ''}. See its log: ${logFile}`,
    );
  return { pid, exited, stop };
}
