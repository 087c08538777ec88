// Runs a program of the repository as a user does, and collects what it prints.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

export const PRESSROOM_PROGRAM = fileURLToPath(
  new URL('../../standalone/pressroom.mjs', import.meta.url),
);

export interface ProgramRun {
  code: number | null;
  out: string;
  errors: string;
}

/** What the variable contains only makes a start faster. */
const { NODE_COMPILE_CACHE } = process.env;

/** `env`: the whole environment apart from PATH and HOME. `input`: standard input. */
export async function runNodeProgram(
  program: string,
  args: readonly string[],
  env: Record<string, string>,
  { input = '', cwd }: { input?: string; cwd?: string } = {},
): Promise<ProgramRun> {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(process.execPath, [program, ...args], {
    ...(cwd !== undefined && { cwd }),
    env: { PATH, HOME, ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }), ...env },
  });
  child.stdin.end(input);
  const [out, errors, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { code, out, errors };
}
