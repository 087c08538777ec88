// Runs `npm start` like a terminal: in a new process group that receives Ctrl-C.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { eventually } from '../eventually.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** The running processes of a group with their command lines. */
export function groupMembers(group: number): { pid: number; command: string }[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .flatMap(pid => {
      try {
        const [state, , ofGroup] = readFileSync(`/proc/${pid}/stat`, 'utf8')
          .replace(/^.*\) /, '')
          .split(' ');
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
        return Number(ofGroup) === group && state !== 'Z' ? [{ pid: Number(pid), command }] : [];
      } catch {
        return [];
      }
    });
}

const childOf = (parent: number) =>
  eventually(() => {
    const found = readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8')
      .trim()
      .split(' ')[0];
    if (!found) throw new Error(`process ${parent} has no child`);
    return Number(found);
  });

export interface NpmStart {
  /** The process group of everything that the launcher started. */
  leader: number;
  url: string;
  /** The terminal output. */
  out(): string;
  /** Sends Ctrl-C twice, as the terminal and npm do. */
  ctrlC(): void;
  killLauncher(): void;
  killLeader(): void;
  /** Resolves with the exit code. */
  ended: Promise<number | null>;
}

interface StartOptions {
  env?: Record<string, string>;
  ready?: boolean;
  /** On a pseudo-terminal. */
  terminal?: boolean;
}

/**
 * Starts with `dataDir` and free ports. With `ready: false`, resolves before the installation is
 * ready. The caller must await `ended`.
 */
export async function npmStart(
  dataDir: string,
  { env = {}, ready = true, terminal = false }: StartOptions = {},
): Promise<NpmStart> {
  const { MONGODB_URI: _uri, PRESSROOM_LOG_LEVEL: _level, ...inherited } = process.env;
  const command = [process.execPath, 'standalone/bootstrap.mjs', 'standalone/main.ts'];
  const [program, ...args] = terminal
    ? ['script', '-qefc', `exec ${command.join(' ')}`, '/dev/null']
    : command;
  const child = spawn(program!, args, {
    cwd: ROOT,
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
    env: {
      ...inherited,
      PRESSROOM_DATA_DIR: dataDir,
      PRESSROOM_PORT: '0',
      PRESSROOM_OPERATIONS_PORT: '0',
      PRESSROOM_SLOTS: '2',
      ...env,
    },
  });
  if (!terminal) child.stdin.end();
  let out = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', chunk => {
      out += chunk;
    });
  let code: number | null | undefined;
  const ended = once(child, 'close').then(([exit]) => {
    code = exit;
    return exit as number | null;
  });
  const launcher = terminal ? await childOf(child.pid!) : child.pid!;
  const leader = await childOf(launcher).catch(() => 0);
  const url = ready
    ? await eventually(() => {
        const found = /ready at (http:\S+)/.exec(out)?.[1];
        if (!found && code === undefined) throw new Error(`not ready: ${out}`);
        return found ?? '';
      })
    : '';
  if (ready && !url) throw new Error(`npm start ended with ${code}: ${out}`);
  return {
    leader,
    url,
    out: () => out,
    ctrlC: () => {
      if (terminal) return void child.stdin.write('\x03');
      process.kill(-child.pid!, 'SIGINT');
      child.kill('SIGINT');
    },
    killLauncher: () => {
      if (child.exitCode === null && child.signalCode === null) process.kill(launcher, 'SIGKILL');
    },
    killLeader: () => process.kill(leader, 'SIGKILL'),
    ended,
  };
}
