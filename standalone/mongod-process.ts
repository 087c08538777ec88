// One mongod process on a leash: it ends when this process does, however this process ends. Owns
// the process, its log file and its predecessor's end.
import { spawn } from 'node:child_process';
import { createWriteStream, existsSync, renameSync, type WriteStream } from 'node:fs';
import { readFile, realpath } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { Duplex, Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { killQuietly } from '../worker/browser/chrome.ts';

export interface MongodProcess {
  readonly pid: number;
  /** Settles when the process is gone, however it went. */
  readonly exited: Promise<string>;
  /**
   * SIGTERM, then SIGKILL after `patienceMs` (at once for 0). Calling it again waits for the same
   * end.
   */
  stop(patienceMs?: number): Promise<void>;
}

/**
 * The leash waits for the end of file on descriptor 3, whose other end only our process holds: kill
 * -9 closes it too. Ctrl-C reaches a whole process group, so the leash ignores it. mongod's process
 * id goes back through the same descriptor.
 */
const LEASH = `
trap '' INT HUP
"$@" 3<&- & mongod=$!
echo $mongod >&3
( exec >/dev/null 2>&1; read -r _ <&3; kill -TERM $mongod ) & watcher=$!
wait $mongod; code=$?
kill $watcher 2>/dev/null
exit $code`;

const MAX_LOG_BYTES = 8 * 2 ** 20;

/** Keeps the last 8 to 16 MiB of what mongod says: the file and the one before it. */
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
        // A full disk costs the log, not the database's client.
        stream.on('error', () => {});
      }
      bytes += line.length + 1;
      stream.write(`${line}\n`);
    },
    close: () => new Promise<void>(resolve => (stream ? stream.end(() => resolve()) : resolve())),
  };
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

const goneWithin = async (pid: number, ms: number): Promise<boolean> => {
  for (const end = performance.now() + ms; performance.now() < end; await sleep(20))
    if (!isAlive(pid)) return true;
  return !isAlive(pid);
};

/**
 * Ends a mongod that still runs on `dbPath`, left behind by a process that was killed. Its command
 * line must name that folder: process ids are used again.
 */
export async function stopPredecessor(dbPath: string): Promise<boolean> {
  const pid = Number((await readFile(`${dbPath}/mongod.lock`, 'utf8').catch(() => '')).trim());
  if (!Number.isSafeInteger(pid) || pid < 2 || !isAlive(pid)) return false;
  const words = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0');
  const named = (words[words.indexOf('--dbpath') + 1] ?? '').replace(
    '/proc/self/',
    `/proc/${pid}/`,
  );
  if (
    !words[0]?.includes('mongod') ||
    (await realpath(named).catch(() => named)) !== (await realpath(dbPath))
  )
    return false;
  process.kill(pid, 'SIGTERM');
  if (!(await goneWithin(pid, 10_000))) {
    process.kill(pid, 'SIGKILL');
    if (!(await goneWithin(pid, 5_000)))
      throw new Error(
        `A mongod (process ${pid}) still runs on ${dbPath} and cannot be ended. End it, then start again.`,
      );
  }
  return true;
}

const firstLine = (stream: Duplex) =>
  new Promise<string>(resolve => {
    stream.once('data', (chunk: Buffer) => resolve(chunk.toString().trim()));
    stream.once('close', () => resolve(''));
  });

/** What mongod's JSON line says, for the error message of a start that failed. */
const said = (line: string): string => {
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
 * an Error with mongod's own message when it ends before that.
 */
export async function spawnMongod(
  binary: string,
  args: string[],
  dbPath: string,
  logFile: string,
  { uid, cwd = '/' }: { uid?: number | undefined; cwd?: string } = {},
): Promise<MongodProcess> {
  const child = spawn('/bin/sh', ['-c', LEASH, 'leash', binary, '--dbpath', dbPath, ...args], {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    cwd,
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  const leash = child.stdio[3] as Duplex;
  leash.on('error', () => {});
  const log = boundedLog(logFile);
  const listening = Promise.withResolvers<true>();
  let complaint = '';
  for (const stream of [child.stdout, child.stderr] as Readable[]) {
    createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY }).on('line', line => {
      log.write(line);
      if (line.includes('"Waiting for connections"')) listening.resolve(true);
      complaint ||= said(line);
    });
  }
  const exited = new Promise<string>(resolve => {
    child.once('error', error => resolve(error.message));
    child.once('close', (code, signal) =>
      resolve(signal ? `killed by ${signal}` : `exit code ${code}`),
    );
  }).then(async how => {
    leash.destroy();
    await log.close();
    return how;
  });
  const pid = Number(await firstLine(leash));
  const kill = (signal: NodeJS.Signals) => killQuietly(pid, signal);
  let gone = false;
  void exited.then(() => {
    gone = true;
  });
  const stop = async (patienceMs = 10_000) => {
    if (!gone) kill(patienceMs > 0 ? 'SIGTERM' : 'SIGKILL');
    const timer = setTimeout(() => gone || kill('SIGKILL'), patienceMs);
    await exited;
    clearTimeout(timer);
  };
  const timer = setTimeout(() => kill('SIGKILL'), 60_000);
  const how = await Promise.race([listening.promise, exited]);
  clearTimeout(timer);
  if (how !== true)
    throw new Error(
      `mongod did not start (${how})${complaint ? `: ${complaint}` : ''}. Its log: ${logFile}`,
    );
  return { pid, exited, stop };
}
