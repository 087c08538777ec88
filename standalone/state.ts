// The state of a standalone installation between starts: files in its data folder that only their
// owner can read.
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

/** The managed mongod's folder inside the data folder. */
export const MONGOD_FOLDER = 'mongod';

/**
 * `PRESSROOM_DATA_DIR`, otherwise `/var/lib/pressroom` for root, otherwise
 * `$XDG_DATA_HOME/pressroom` or `~/.local/share/pressroom`.
 */
export function dataFolder(env: NodeJS.ProcessEnv, uid = process.getuid?.()): string {
  if (env.PRESSROOM_DATA_DIR) return resolve(env.PRESSROOM_DATA_DIR);
  if (uid === 0) return '/var/lib/pressroom';
  return join(env.XDG_DATA_HOME || join(homedir(), '.local', 'share'), 'pressroom');
}

/**
 * Creates the folder or changes its mode (default: not accessible to other users). Throws an Error
 * with the folder and the variable.
 */
export async function openDataFolder(folder: string, mode = 0o700): Promise<string> {
  try {
    await mkdir(folder, { recursive: true, mode });
    await chmod(folder, mode);
    return folder;
  } catch (error) {
    throw new Error(
      `Cannot use the data folder ${folder} (${(error as NodeJS.ErrnoException).code}). Set PRESSROOM_DATA_DIR to a folder that you own.`,
    );
  }
}

/** Writes a file with mode 0600 atomically, even on a power failure. */
export async function writePrivate(file: string, content: string): Promise<void> {
  const draft = `${file}.${process.pid}.new`;
  const handle = await open(draft, 'w', 0o600);
  try {
    await handle.writeFile(content);
    await handle.sync();
    await handle.close();
    await rename(draft, file);
    const folder = await open(dirname(file), 'r');
    await folder.sync().finally(() => folder.close());
  } catch (error) {
    await handle.close().catch(() => {});
    await rm(draft, { force: true });
    throw error;
  }
}

/** The content of the file, or undefined when it does not exist. */
export const readPrivate = (file: string): Promise<string | undefined> =>
  readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });

export const newSecret = (bytes = 32): string => randomBytes(bytes).toString('base64url');

/**
 * Returns a secret of the installation, created on the first call. Without the pepper no stored API
 * key can be verified; without the secret no value that the dashboard encrypted can be read.
 */
export async function keepSecret(folder: string, name: 'pepper' | 'secret'): Promise<string> {
  const file = join(folder, name);
  const kept = (await readPrivate(file))?.trim();
  if (kept) return kept;
  const made = newSecret();
  await writePrivate(file, `${made}\n`);
  return made;
}
