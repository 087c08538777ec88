// Which ports some processes listen on, as the kernel tells.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

const quietly = <T>(read: () => T, otherwise: T): T => {
  try {
    return read();
  } catch {
    return otherwise;
  }
};
const LISTEN = '0A';

const group = (pid: string) =>
  quietly(
    () =>
      readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ')[2],
    undefined,
  );

/** All processes of the group that this one is in. */
export function groupOf(pid: number): number[] {
  const wanted = group(String(pid));
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name) && group(name) === wanted)
    .map(Number);
}

/**
 * The TCP sockets, as `address:port` in the kernel's hexadecimal, on which any of these processes
 * listens.
 */
export function listeners(pids: number[]): string[] {
  const theirs = new Set(
    pids.flatMap(pid =>
      quietly(() => readdirSync(`/proc/${pid}/fd`), []).map(fd =>
        quietly(() => readlinkSync(`/proc/${pid}/fd/${fd}`), ''),
      ),
    ),
  );
  return ['tcp', 'tcp6'].flatMap(table =>
    readFileSync(`/proc/net/${table}`, 'utf8')
      .split('\n')
      .slice(1)
      .map(line => line.trim().split(/\s+/))
      .filter(
        ([, , , state, , , , , , inode]) => state === LISTEN && theirs.has(`socket:[${inode}]`),
      )
      .map(([, local]) => local!),
  );
}

/**
 * How many connections some process still holds at its end of this port, in whatever state: those
 * that only the kernel remembers have no inode.
 */
export function connectionsAt(port: number): number {
  const wanted = port.toString(16).toUpperCase().padStart(4, '0');
  return ['tcp', 'tcp6'].flatMap(table =>
    readFileSync(`/proc/net/${table}`, 'utf8')
      .split('\n')
      .slice(1)
      .map(line => line.trim().split(/\s+/))
      .filter(
        ([, local, , state, , , , , , inode]) =>
          local?.endsWith(`:${wanted}`) && state !== LISTEN && inode !== '0',
      ),
  ).length;
}
