// The file that a support bundle is written to: checked first, readable by its owner only, and
// complete or absent.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { CliError } from './failure.ts';

const FOLDER = 'pressroom-support';

const run = promisify(execFile);

/** Creates the empty file, before minutes of work. Throws CliError if it cannot be created. */
export async function createBundleFile(output: string): Promise<void> {
  try {
    await writeFile(output, '', { mode: 0o600, flag: 'wx' });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new CliError(
      code === 'EEXIST'
        ? `${output} exists. Choose another file with --output.`
        : `${output} cannot be created (${code}). Choose another file with --output.`,
    );
  }
}

/** Writes files, by their path in the archive, as `.tar.gz` to the existing file `output`. */
export async function writeBundleFile(
  output: string,
  files: ReadonlyMap<string, string>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), `${FOLDER}-`));
  for (const [name, content] of files) {
    const file = join(folder, FOLDER, name);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
  }
  try {
    await run('tar', ['-czf', output, '-C', folder, FOLDER]);
  } catch (error) {
    const { code, stderr } = error as { code?: number | string; stderr?: string };
    const why =
      code === 'ENOENT' ? 'tar is not in the PATH' : (stderr?.trim().split('\n')[0] ?? code);
    throw new CliError(
      `${output} cannot be written: ${why}. The collected files are in ${join(folder, FOLDER)}.`,
    );
  }
  await rm(folder, { recursive: true, force: true });
}
