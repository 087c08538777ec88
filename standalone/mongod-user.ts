// The user that mongod runs as when this process is root, and how the files of the data become that user's.
import { lchown, lstat, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Next to Chrome's default (PRESSROOM_CHROME_UID): a page that breaks out of Chrome must not own the data. */
export const MONGOD_UID = 64_118;

/** What is called by two names, or by a link, may lie outside the folder: its owner is not for us to change. */
async function mustLieHere(path: string, uid: number): Promise<void> {
  const { nlink, uid: owner } = await stat(path);
  const link = (await lstat(path)).isSymbolicLink();
  if (link ? owner === uid : nlink === 1) return;
  throw new Error(
    `mongod runs as user ${uid}, but ${path} is a ${link ? 'symbolic' : 'hard'} link, whose target stays as it is. ` +
      `Move the target here, or give it to that user (chown -R ${uid}:${uid}).`,
  );
}

/** A folder comes after what is in it: one that has its owner is done, also after a crash in the middle. */
async function changeOwner(path: string, uid: number): Promise<void> {
  if ((await lstat(path)).isDirectory()) for (const name of await readdir(path)) await changeOwner(join(path, name), uid);
  else await mustLieHere(path, uid);
  await lchown(path, uid, uid);
}

/**
 * Gives `folder` and all that is in it to `uid`, unless it has it: earlier versions ran mongod as root. Follows no link; throws
 * an Error that says what to do when there is one that leads to another owner's file. No mongod may run on the folder.
 */
export async function giveDataTo(uid: number, folder: string): Promise<void> {
  const paths = [folder, ...(await readdir(folder)).map(name => join(folder, name))];
  const owners = await Promise.all(paths.map(async path => (await lstat(path)).uid));
  if (owners.some(owner => owner !== uid)) await changeOwner(folder, uid);
}
