// The lock of a data folder: one Pressroom at a time. It is a name of Linux's abstract socket
// namespace, which disappears with its holder and is therefore never stale.
import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';

export type LockRole = 'standalone' | 'command';

export interface Lock {
  held: true;
  /** Notifies waiting processes that the database of the folder is available. */
  ready(): void;
  release(): Promise<void>;
}

export interface LockHolder {
  held: false;
  role: LockRole;
  pid: number;
  /** True when the holder is ready, false when it ends before that. */
  untilReady: Promise<boolean>;
  untilGone: Promise<void>;
  /** Closes the connection to the holder. */
  disconnect(): void;
}

/**
 * Every user of the machine can connect to this name; neither the name nor the answer is secret.
 */
const nameOf = async (folder: string) =>
  `\0pressroom-data-${createHash('sha256')
    .update(await realpath(folder))
    .digest('hex')
    .slice(0, 32)}`;

function listen(name: string, role: LockRole): Promise<Lock | undefined> {
  const clients = new Set<Socket>();
  let ready = false;
  const server = createServer(socket => {
    clients.add(socket);
    socket.on('error', () => {}).on('close', () => clients.delete(socket));
    socket.write(`${role} ${process.pid}\n${ready ? 'ready\n' : ''}`);
  });
  // The lock alone does not keep the process running.
  server.unref();
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(undefined) : reject(error),
    );
    server.listen(name, () =>
      resolve({
        held: true,
        ready: () => {
          ready = true;
          for (const socket of clients) socket.write('ready\n');
        },
        release: () =>
          new Promise(done => {
            server.close(() => done());
            for (const socket of clients) socket.destroy();
          }),
      }),
    );
  });
}

function ask(name: string): Promise<LockHolder | undefined> {
  const socket = connect(name);
  const ready = Promise.withResolvers<boolean>();
  const gone = Promise.withResolvers<void>();
  return new Promise(resolve => {
    let received = '';
    socket.on('error', () => {});
    socket.on('data', chunk => {
      received += chunk.toString();
      const [, role, pid] = /^(\w+) (\d+)\n/.exec(received) ?? [];
      if (role)
        resolve({
          held: false,
          role: role as LockRole,
          pid: Number(pid),
          untilReady: ready.promise,
          untilGone: gone.promise,
          disconnect: () => socket.destroy(),
        });
      if (received.endsWith('ready\n')) ready.resolve(true);
    });
    socket.on('close', () => {
      ready.resolve(false);
      gone.resolve();
      resolve(undefined);
    });
  });
}

/** Takes the lock of `folder`, which must exist, or returns its holder. */
export async function takeLock(folder: string, role: LockRole): Promise<Lock | LockHolder> {
  const name = await nameOf(folder);
  for (;;) {
    // The holder may end between the two calls; the name is then free, so try again.
    const answer = (await listen(name, role)) ?? (await ask(name));
    if (answer) return answer;
  }
}
