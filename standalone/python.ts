// Finds a Python that can install packages, which some programs come as.
import { aptInstall } from './apt.ts';
import { findOnPath } from './cache.ts';
import { type Notify, runCommand } from './run-command.ts';

/**
 * A Python that can install packages; as root on Debian pip is got by apt. Throws when there is
 * none.
 */
export async function pythonWithPip(env: NodeJS.ProcessEnv, notify: Notify): Promise<string> {
  const python = findOnPath(['python3'], env);
  const hasPip =
    python && (await runCommand(python, ['-m', 'pip', '--version'], { timeoutMs: 20_000 })).ok;
  if (!hasPip && !(await aptInstall(['python3-pip'], notify, env)))
    throw new Error('python3 with pip is not there');
  return findOnPath(['python3'], env) ?? 'python3';
}
