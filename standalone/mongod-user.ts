// The user that mongod runs as when this process is root, and the change of the data's owner to
// that user.
import { lchown, lstat, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Differs from Chrome's user (PRESSROOM_CHROME_UID), so that a page that exploits Chrome cannot
 * access the data.
 */
export const MONGOD_UID = 64_118;

/**
 * Throws for files with a second name or behind a symbolic link: they may be outside the folder, so
 * their owner must not change.
 */
async function mustLieHere(path: string, uid: number): Promise<void> {
  const { nlink, uid: owner } = await stat(path);
  const link = (await lstat(path)).isSymbolicLink();
  if (link ? owner === uid : nlink === 1) return;
  throw new Error(
    `mongod runs as user ${uid}, but ${path} is a ${link ? 'symbolic' : 'hard'} link to a file of another owner. ` +
      `Move the target into this folder, or change its owner (chown -R ${uid}:${uid}).`,
  );
}

/**
 * Changes a folder after its contents, so that a folder with the new owner is complete even after a
 * crash.
 */
async function changeOwner(path: string, uid: number): Promise<void> {
  if ((await lstat(path)).isDirectory())
    for (const name of await readdir(path)) await changeOwner(join(path, name), uid);
  else await mustLieHere(path, uid);
  await lchown(path, uid, uid);
}

/**
 * Changes the owner of `folder` and its contents to `uid` if needed: earlier versions ran mongod as
 * root. Does not follow links; throws an Error with the fix for a link to a file of another owner.
 * No mongod may be running on the folder.
 */
export async function giveDataTo(uid: number, folder: string): Promise<void> {
  const paths = [folder, ...(await readdir(folder)).map(name => join(folder, name))];
  const owners = await Promise.all(paths.map(async path => (await lstat(path)).uid));
  if (owners.some(owner => owner !== uid)) await changeOwner(folder, uid);
}
