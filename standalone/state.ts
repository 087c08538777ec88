// What an installation on one machine must remember between starts: files in its data folder that
// only their owner can read.
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

/** The managed mongod's folder inside the data folder. */
export const MONGOD_FOLDER = 'mongod';

/**
 * `PRESSROOM_DATA_DIR`, else `/var/lib/pressroom` for root, else `$XDG_DATA_HOME/pressroom` or
 * `~/.local/share/pressroom`.
 */
export function dataFolder(env: NodeJS.ProcessEnv, uid = process.getuid?.()): string {
  if (env.PRESSROOM_DATA_DIR) return resolve(env.PRESSROOM_DATA_DIR);
  if (uid === 0) return '/var/lib/pressroom';
  return join(env.XDG_DATA_HOME || join(homedir(), '.local', 'share'), 'pressroom');
}

/**
 * Creates the folder, or changes its mode to `mode` (by default closed to other users). Throws an
 * Error naming the folder and the variable.
 */
export async function openDataFolder(folder: string, mode = 0o700): Promise<string> {
  try {
    await mkdir(folder, { recursive: true, mode });
    await chmod(folder, mode);
    return folder;
  } catch (error) {
    throw new Error(
      `The data folder ${folder} cannot be used (${(error as NodeJS.ErrnoException).code}). Set PRESSROOM_DATA_DIR to a folder that you own.`,
    );
  }
}

/** Writes a 0600 file whole or not at all, also when the machine loses power. */
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

/** The file's content, or undefined when it is not there. */
export const readPrivate = (file: string): Promise<string | undefined> =>
  readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });

export const newSecret = (bytes = 32): string => randomBytes(bytes).toString('base64url');

/**
 * A secret of the installation, made at the first call and the same ever after. Without the pepper
 * no stored key can be recognised; without the secret what the dashboard sealed cannot be read.
 */
export async function keepSecret(folder: string, name: 'pepper' | 'secret'): Promise<string> {
  const file = join(folder, name);
  const kept = (await readPrivate(file))?.trim();
  if (kept) return kept;
  const made = newSecret();
  await writePrivate(file, `${made}\n`);
  return made;
}
