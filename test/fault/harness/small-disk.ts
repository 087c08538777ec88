// A disk for one process of a scenario, small enough to be filled: a tmpfs, which only root may
// mount.
import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmdirSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface SmallDisk {
  readonly path: string;
  /** Fills the remaining space. */
  fill(): void;
  /** Frees it again. */
  makeRoom(): void;
  /** Also while files on it are open. */
  remove(): void;
}

/** Throws when mounting is not permitted here. */
export function mountSmallDisk(mebibytes: number): SmallDisk {
  const path = mkdtempSync(join(tmpdir(), 'pressroom-fault-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', path], {
      stdio: 'pipe',
    });
  } catch (error) {
    rmdirSync(path);
    throw error;
  }
  const ballast = join(path, 'ballast');
  return {
    path,
    fill: () => {
      const file = openSync(ballast, 'w');
      try {
        // In pieces of a memory page, so that no space is left at the end.
        for (let bytes = 2 ** 20; bytes >= 4_096; ) {
          try {
            writeSync(file, Buffer.alloc(bytes, 1));
          } catch (error) {
            if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
            bytes /= 2;
          }
        }
      } finally {
        closeSync(file);
      }
    },
    makeRoom: () => rmSync(ballast, { force: true }),
    remove: () => {
      execFileSync('umount', ['-l', path]);
      rmdirSync(path);
    },
  };
}
