// A disk of its own for one process of a scenario, small enough to be filled up: a tmpfs, which
// only root may mount.
import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmdirSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface SmallDisk {
  readonly path: string;
  /** Takes all the room that is left. */
  fill(): void;
  /** Gives it back. */
  makeRoom(): void;
  /** Also while something on it is still open. */
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
        // Pieces of a page, so that nothing is left in the end.
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
