// Reads the listening ports and connections of processes from /proc.
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

/** All processes in the process group of `pid`. */
export function groupOf(pid: number): number[] {
  const groupOfPid = group(String(pid));
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name) && group(name) === groupOfPid)
    .map(Number);
}

/** The TCP sockets on which these processes listen, as `address:port` in hexadecimal. */
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
 * Number of connections in any state that a process holds at this local port. Connections without
 * a process have no inode.
 */
export function connectionsAt(port: number): number {
  const hexPort = port.toString(16).toUpperCase().padStart(4, '0');
  return ['tcp', 'tcp6'].flatMap(table =>
    readFileSync(`/proc/net/${table}`, 'utf8')
      .split('\n')
      .slice(1)
      .map(line => line.trim().split(/\s+/))
      .filter(
        ([, local, , state, , , , , , inode]) =>
          local?.endsWith(`:${hexPort}`) && state !== LISTEN && inode !== '0',
      ),
  ).length;
}
