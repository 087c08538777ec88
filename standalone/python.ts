// Finds a Python with pip, which some downloads require.
import { aptInstall } from './apt.ts';
import { findOnPath } from './cache.ts';
import { type Notify, runCommand } from './run-command.ts';

/**
 * Returns a Python with pip. Installs pip with apt when this process is root on Debian. Throws when
 * there is none.
 */
export async function pythonWithPip(env: NodeJS.ProcessEnv, notify: Notify): Promise<string> {
  const python = findOnPath(['python3'], env);
  const hasPip =
    python && (await runCommand(python, ['-m', 'pip', '--version'], { timeoutMs: 20_000 })).ok;
  if (!hasPip && !(await aptInstall(['python3-pip'], notify, env)))
    throw new Error('python3 with pip is not installed');
  return findOnPath(['python3'], env) ?? 'python3';
}
