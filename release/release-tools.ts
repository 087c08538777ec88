// Runs the programs that a release needs: buildah, oras, helm, cosign and tar.
import { type RunOptions, runCommand } from '../standalone/run-command.ts';

/** A build of all stages with empty caches. */
const LIMIT_MS = 3_600_000;

export type ReleaseProgram = 'buildah' | 'oras' | 'helm' | 'cosign' | 'tar';

/** Runs a program. Returns the first 64 KiB of stdout. Throws an Error with its last line. */
export type ReleaseTools = (program: ReleaseProgram, ...args: string[]) => Promise<string>;

interface ToolOptions {
  /** Programs that are not on PATH, with arguments that precede all others. */
  commands?: Partial<Record<ReleaseProgram, readonly [string, ...string[]]>>;
  env?: NodeJS.ProcessEnv;
  onOutput?: NonNullable<RunOptions['onOutput']>;
}

/** `onOutput` receives stdout and stderr of all programs. */
export const releaseTools =
  ({ commands = {}, env = process.env, onOutput }: ToolOptions = {}): ReleaseTools =>
  async (program, ...args) => {
    const [file, ...first] = commands[program] ?? [program];
    const { ok, stdout, why } = await runCommand(file, [...first, ...args], {
      timeoutMs: LIMIT_MS,
      env,
      ...(onOutput && { onOutput }),
    });
    if (!ok) throw new Error(`${program} ${args[0]}: ${why}`);
    return stdout;
  };
