// One Pressroom to a data folder. The lock is a name in Linux's abstract socket space: it is gone
// the moment its holder is, however that ended, and never stale.
import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';

export type LockRole = 'standalone' | 'command';

export interface Lock {
  held: true;
  /** Tells those who ask that the database of the folder can be used now. */
  ready(): void;
  release(): Promise<void>;
}

export interface LockHolder {
  held: false;
  role: LockRole;
  pid: number;
  /** True when the holder says that it is ready, false when it is gone before that. */
  untilReady: Promise<boolean>;
  untilGone: Promise<void>;
  /** Asks no more. */
  leave(): void;
}

/**
 * The name says nothing of the folder's content, and what is told is no secret: every user of the
 * machine may ask.
 */
const nameOf = async (folder: string) =>
  `\0pressroom-data-${createHash('sha256')
    .update(await realpath(folder))
    .digest('hex')
    .slice(0, 32)}`;

function listen(name: string, role: LockRole): Promise<Lock | undefined> {
  const asking = new Set<Socket>();
  let ready = false;
  const server = createServer(socket => {
    asking.add(socket);
    socket.on('error', () => {}).on('close', () => asking.delete(socket));
    socket.write(`${role} ${process.pid}\n${ready ? 'ready\n' : ''}`);
  });
  // The lock alone keeps nobody alive.
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
          for (const socket of asking) socket.write('ready\n');
        },
        release: () =>
          new Promise(done => {
            server.close(() => done());
            for (const socket of asking) socket.destroy();
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
    let told = '';
    socket.on('error', () => {});
    socket.on('data', chunk => {
      told += chunk.toString();
      const [, role, pid] = /^(\w+) (\d+)\n/.exec(told) ?? [];
      if (role)
        resolve({
          held: false,
          role: role as LockRole,
          pid: Number(pid),
          untilReady: ready.promise,
          untilGone: gone.promise,
          leave: () => socket.destroy(),
        });
      if (told.endsWith('ready\n')) ready.resolve(true);
    });
    socket.on('close', () => {
      ready.resolve(false);
      gone.resolve();
      resolve(undefined);
    });
  });
}

/** Takes the lock of `folder` (which must be there), or tells who has it. */
export async function takeLock(folder: string, role: LockRole): Promise<Lock | LockHolder> {
  const name = await nameOf(folder);
  for (;;) {
    // The holder may go between the two questions: then the name is free, and we ask again.
    const answer = (await listen(name, role)) ?? (await ask(name));
    if (answer) return answer;
  }
}
