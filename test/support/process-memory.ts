// Looks for bytes in the memory of another process, as only root may.
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';

const PIECE = 8 * 2 ** 20;

/** Every readable range, as start and end. */
function ranges(pid: number): [number, number][] {
  return readFileSync(`/proc/${pid}/maps`, 'utf8')
    .split('\n')
    .flatMap(line => {
      const [, start, end, readable] = /^([0-9a-f]+)-([0-9a-f]+) (.)/.exec(line) ?? [];
      return readable === 'r' && !/\[v(?:var|var_vclock|syscall)\]/.test(line)
        ? [[Number.parseInt(start!, 16), Number.parseInt(end!, 16)] as [number, number]]
        : [];
    });
}

/**
 * How many of the process's pieces of memory hold any of these. Throws when the process is gone, or
 * may not be read.
 */
export function memoryContains(pid: number, wanted: Buffer[]): number {
  const longest = Math.max(...wanted.map(({ length }) => length));
  const memory = openSync(`/proc/${pid}/mem`, 'r');
  const piece = Buffer.alloc(PIECE + longest);
  let found = 0;
  try {
    for (const [start, end] of ranges(pid))
      for (let at = start; at < end; at += PIECE) {
        const length = Math.min(end - at, PIECE + longest);
        let read = 0;
        try {
          read = readSync(memory, piece, 0, length, at);
        } catch (error) {
          // A range that cannot be read after all, or has been given back meanwhile.
          if (!['EIO', 'EFAULT'].includes((error as NodeJS.ErrnoException).code!)) throw error;
        }
        if (wanted.some(each => piece.subarray(0, read).includes(each))) found++;
      }
  } finally {
    closeSync(memory);
  }
  return found;
}
