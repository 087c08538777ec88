// Searches the memory of another process. Requires root.
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';

const PIECE = 8 * 2 ** 20;

/** All readable ranges as start and end. */
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
 * Number of 8 MiB blocks that contain any of these byte strings. Throws when the process is gone
 * or not readable.
 */
export function memoryContains(pid: number, patterns: Buffer[]): number {
  const longest = Math.max(...patterns.map(({ length }) => length));
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
          // The range is not readable or was unmapped in the meantime.
          if (!['EIO', 'EFAULT'].includes((error as NodeJS.ErrnoException).code!)) throw error;
        }
        if (patterns.some(each => piece.subarray(0, read).includes(each))) found++;
      }
  } finally {
    closeSync(memory);
  }
  return found;
}
