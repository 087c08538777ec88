// Checks whether a port is free and which process uses it, for actionable error messages.
import { readdir, readFile, readlink } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { basename } from 'node:path';

/** Listens for a moment. Returns the port, another one for 0, or undefined if it is in use. */
export const usablePort = (host: string, port: number): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' && port !== 0 ? resolve(undefined) : reject(error),
    );
    server.listen({ host, port, exclusive: true }, () => {
      const { port: taken } = server.address() as AddressInfo;
      server.close(() => resolve(taken));
    });
  });

export const portIsFree = async (host: string, port: number): Promise<boolean> =>
  (await usablePort(host, port)) !== undefined;

/** Inodes of the sockets that listen on `port`, from /proc/net (state 0A is LISTEN). */
async function listeningInodes(port: number): Promise<Set<string>> {
  const tables = await Promise.all(
    ['/proc/net/tcp', '/proc/net/tcp6'].map(file => readFile(file, 'utf8').catch(() => '')),
  );
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const rows = tables.flatMap(table => table.split('\n').map(line => line.trim().split(/\s+/)));
  return new Set(
    rows
      .filter(row => row[1]?.endsWith(suffix) && row[3] === '0A')
      .map(row => `socket:[${row[9]}]`),
  );
}

/** Such as `node server.js`: the program's name and its first argument. */
async function commandOf(pid: string): Promise<string> {
  const [program = '', first = ''] = (
    await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  ).split('\0');
  return `${basename(program)} ${first}`.trim().slice(0, 80) || 'a system process';
}

/** The process that listens on `port`; undefined if there is none or another user owns it. */
export async function whoListens(port: number): Promise<{ pid: number; name: string } | undefined> {
  const inodes = await listeningInodes(port);
  if (inodes.size === 0) return undefined;
  for (const pid of (await readdir('/proc')).filter(name => /^\d+$/.test(name))) {
    for (const descriptor of await readdir(`/proc/${pid}/fd`).catch(() => [])) {
      const target = await readlink(`/proc/${pid}/fd/${descriptor}`).catch(() => '');
      if (inodes.has(target)) return { pid: Number(pid), name: await commandOf(pid) };
    }
  }
  return undefined;
}

/**
 * Throws an Error with the port, the process that uses it and the variable that changes it. Port 0
 * is always free.
 */
export async function mustBeFree(host: string, port: number, variable: string): Promise<void> {
  if (port === 0 || (await portIsFree(host, port))) return;
  const who = await whoListens(port);
  throw new Error(
    `Port ${port} is in use${who ? ` by ${who.name} (process ${who.pid})` : ''}. Stop that process or set ${variable} to another port.`,
  );
}
