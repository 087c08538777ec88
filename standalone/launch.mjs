// Installs the packages if needed and runs a script of this repository with the required Node.
// Plain JavaScript that runs on Node 20. Owns the process group: forwards signals of the terminal
// and ends processes that a dead leader leaves behind.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { constants } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const MODULES = join(ROOT, 'node_modules');
const STAMP = join(MODULES, '.pressroom-lock-hash');
const PARENT_WATCH = new URL('parent-watch.mjs', import.meta.url).href;
const NEEDED_MAJOR = 24;
/**
 * Not through `.bin`: npm 10 removes that link together with the package for the other processor.
 */
const NODE_PACKAGE = join(MODULES, `node-linux-${process.arch}`, 'bin');
/** V8 semi-space: larger ones cost 20 to 50 MB per process and make no render cheaper. */
const NODE_FLAGS = ['--max-semi-space-size=4'];

/**
 * One Ctrl-C arrives twice, from the terminal and from npm: a repeated signal within this time is
 * ignored.
 */
const SAME_SIGNAL_MS = 1_000;
/** Time between SIGTERM and SIGKILL for processes of a dead leader. */
const LEFTOVERS_MS = 3_000;

const readOr = (file, fallback) => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return fallback;
  }
};

/** Compares npm's record of installed packages with the lock file, for a manual `npm ci`. */
function installedByHand(lock) {
  const installed = JSON.parse(readOr(join(MODULES, '.package-lock.json'), '{}')).packages ?? {};
  return Object.entries(JSON.parse(lock).packages).every(
    ([path, { version, integrity, optional }]) => {
      const there = installed[path];
      return (
        path === '' ||
        (there ? there.version === version && there.integrity === integrity : optional === true)
      );
    },
  );
}

/**
 * Prevents concurrent `npm ci` of two starts. The abstract socket name is free again as soon as its
 * holder ends.
 */
async function withInstallLock(work) {
  const name = `\0pressroom-install-${createHash('sha256').update(ROOT).digest('hex').slice(0, 32)}`;
  for (;;) {
    const server = createServer();
    const mine = await new Promise(resolve =>
      server.once('error', () => resolve(false)).listen(name, () => resolve(true)),
    );
    if (mine) {
      const waiting = new Set();
      server.on('connection', socket => waiting.add(socket.on('error', () => {})));
      try {
        return await work();
      } finally {
        server.close();
        for (const socket of waiting) socket.destroy();
      }
    }
    await new Promise(resolve =>
      connect(name)
        .once('close', resolve)
        .once('error', () => {})
        .resume(),
    );
  }
}

async function installPackages() {
  const lock = readFileSync(join(ROOT, 'package-lock.json'), 'utf8');
  const hash = createHash('sha256').update(lock).digest('hex');
  const current = () => readOr(STAMP, '') === hash;
  if (current()) return;
  await withInstallLock(() => {
    if (current()) return;
    if (!installedByHand(lock)) {
      process.stderr.write('Installing packages (npm ci).\n');
      const npm = process.env.npm_execpath?.endsWith('.js')
        ? [process.execPath, process.env.npm_execpath]
        : ['npm'];
      const quiet = ['--no-audit', '--no-fund', '--loglevel=error', '--include=dev'];
      // npm's output goes to stderr, since stdout belongs to the script.
      const { status } = spawnSync(npm[0], [...npm.slice(1), 'ci', ...quiet], {
        cwd: ROOT,
        stdio: ['ignore', 2, 2],
      });
      if (status !== 0) throw new Error('`npm ci` failed. See its output above.');
    }
    mkdirSync(MODULES, { recursive: true });
    writeFileSync(STAMP, hash);
  });
}

function findNode() {
  const packaged = join(NODE_PACKAGE, 'node');
  if (existsSync(packaged)) return packaged;
  if (Number(process.versions.node.split('.')[0]) >= NEEDED_MAJOR) return process.execPath;
  throw new Error(
    `Pressroom requires Node ${NEEDED_MAJOR} or newer (this is ${process.version}). No npm package provides it for this platform, so install it.`,
  );
}

/** Read at startup: if the shell ends during the installation, this process gets another parent. */
const shell = process.ppid;

/**
 * Calls `gone` when npm or the shell between npm and this process has ended: npm sends SIGTERM to
 * that shell, which does not forward it. Polls twice a second, since the end of a parent has no
 * event. Without npm it does nothing: a background process may outlive its shell.
 */
function watchNpm(gone) {
  if (process.env.npm_lifecycle_event === undefined) return;
  const npm = Number(/^\d+ \(.*\) \S (\d+)/s.exec(readOr(`/proc/${shell}/stat`, ''))?.[1] ?? shell);
  const timer = setInterval(() => {
    if (process.ppid === shell && existsSync(`/proc/${npm}`)) return;
    clearInterval(timer);
    gone();
  }, 500);
  timer.unref();
}

/** Ends the remaining processes of the group. */
async function endLeftovers(group) {
  const signal = name => {
    try {
      return process.kill(-group, name);
    } catch {
      return false;
    }
  };
  if (!signal('SIGTERM')) return;
  for (const end = performance.now() + LEFTOVERS_MS; performance.now() < end; await sleep(20))
    if (!signal(0)) return;
  signal('SIGKILL');
}

/** Runs `script` (a path in the repository) and returns its exit code. */
export async function launch(script, args) {
  await installPackages();
  const leader = spawn(
    findNode(),
    [...NODE_FLAGS, '--import', PARENT_WATCH, join(ROOT, script), ...args],
    {
      // Its own group, so that Ctrl-C does not reach mongod and Chrome directly. The IPC channel
      // closes when this process ends, which notifies the leader.
      detached: true,
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
      env: {
        ...process.env,
        PATH: [join(MODULES, '.bin'), NODE_PACKAGE, process.env.PATH].join(delimiter),
        // Caches compiled code and stripped types for a faster start.
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(MODULES, '.cache', 'compile'),
        // One heap for all threads: glibc's heaps per thread cost 10 to 20 MB per process and gain
        // no speed.
        MALLOC_ARENA_MAX: process.env.MALLOC_ARENA_MAX ?? '1',
      },
    },
  );
  const receivedAt = new Map();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(name, () => {
      const before = receivedAt.get(name);
      receivedAt.set(name, performance.now());
      if (before !== undefined && performance.now() - before < SAME_SIGNAL_MS) return;
      leader.kill(name === 'SIGHUP' ? 'SIGTERM' : name);
    });
  }
  watchNpm(() => receivedAt.size > 0 || leader.kill('SIGTERM'));
  const code = await new Promise((resolve, reject) => {
    leader.once('error', reject);
    leader.once('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal]));
  });
  await endLeftovers(leader.pid);
  return code;
}

/** `launch` for an executable: takes over the exit code and prints a start error as one line. */
export async function launchAndExit(script, args) {
  try {
    process.exitCode = await launch(script, args);
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
