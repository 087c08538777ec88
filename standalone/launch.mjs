// Runs a script of this repository with the Node it asks for, after making sure that its packages
// are there. Plain JavaScript: it must run on Node 20. Owns the process group: the terminal's
// signals end here, and whatever a dead leader leaves behind is ended here.
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
 * Not by `.bin`: npm 10 leaves no link there, since it removes what the package for the other
 * processor would have linked.
 */
const NODE_PACKAGE = join(MODULES, `node-linux-${process.arch}`, 'bin');
/**
 * Semi-spaces of V8: at 16 MiB, as before, each process is 20 to 50 MB larger, and a render no
 * cheaper (measured side by side, 200 renders at two callers: 7.1 ms of the API's CPU with either).
 */
const NODE_FLAGS = ['--max-semi-space-size=4'];

/**
 * One Ctrl-C arrives twice, from the terminal and from npm: the same signal within this time is the
 * same wish.
 */
const SAME_SIGNAL_MS = 1_000;
/** What a dead leader left behind gets this long after SIGTERM. */
const LEFTOVERS_MS = 3_000;

const readOr = (file, fallback) => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return fallback;
  }
};

/**
 * npm's own record of what it installed, against the lock file: for a `npm ci` that was run by
 * hand.
 */
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
 * Two starts at once must not run `npm ci` at the same time: the name is free again when its holder
 * is gone, however it went.
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
      process.stderr.write('Installing the packages that package-lock.json names (npm ci).\n');
      const npm = process.env.npm_execpath?.endsWith('.js')
        ? [process.execPath, process.env.npm_execpath]
        : ['npm'];
      const quiet = ['--no-audit', '--no-fund', '--loglevel=error', '--include=dev'];
      // What npm says goes to stderr: stdout belongs to the script.
      const { status } = spawnSync(npm[0], [...npm.slice(1), 'ci', ...quiet], {
        cwd: ROOT,
        stdio: ['ignore', 2, 2],
      });
      if (status !== 0) throw new Error('`npm ci` did not work; what it said stands above.');
    }
    mkdirSync(MODULES, { recursive: true });
    writeFileSync(STAMP, hash);
  });
}

function findNode() {
  const ours = join(NODE_PACKAGE, 'node');
  if (existsSync(ours)) return ours;
  if (Number(process.versions.node.split('.')[0]) >= NEEDED_MAJOR) return process.execPath;
  throw new Error(
    `Node ${NEEDED_MAJOR} or newer is needed, and for this platform no package brings it: install it (this is ${process.version}).`,
  );
}

/**
 * Read early: when the shell ends while packages are installed, this process gets another parent.
 */
const shell = process.ppid;

/**
 * Calls `gone` when npm or the shell between npm and us is gone: npm hands SIGTERM to that shell,
 * which dies of it and tells nobody. Without npm it calls nothing, since a process that was sent to
 * the background outlives its shell by right. The parent's end has no event: it is asked for twice
 * a second.
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

/** Ends what is left of the process group. */
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

/** Runs `script` (a path inside the repository) to its end and answers with its exit code. */
export async function launch(script, args) {
  await installPackages();
  const leader = spawn(
    findNode(),
    [...NODE_FLAGS, '--import', PARENT_WATCH, join(ROOT, script), ...args],
    {
      // A group of its own: Ctrl-C then never hits mongod and Chrome directly. The IPC channel
      // tells the leader when this process is gone.
      detached: true,
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
      env: {
        ...process.env,
        PATH: [join(MODULES, '.bin'), NODE_PACKAGE, process.env.PATH].join(delimiter),
        // Compiled code and stripped types are kept: a warm start reads instead of compiling.
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(MODULES, '.cache', 'compile'),
        // glibc gives each thread a heap of its own otherwise, which grow and do not shrink: 10 to
        // 20 MB a process, for no gain in speed.
        MALLOC_ARENA_MAX: process.env.MALLOC_ARENA_MAX ?? '1',
      },
    },
  );
  const heardAt = new Map();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(name, () => {
      const before = heardAt.get(name);
      heardAt.set(name, performance.now());
      if (before !== undefined && performance.now() - before < SAME_SIGNAL_MS) return;
      leader.kill(name === 'SIGHUP' ? 'SIGTERM' : name);
    });
  }
  watchNpm(() => heardAt.size > 0 || leader.kill('SIGTERM'));
  const code = await new Promise((resolve, reject) => {
    leader.once('error', reject);
    leader.once('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal]));
  });
  await endLeftovers(leader.pid);
  return code;
}

/**
 * `launch` for a file that is a command: its exit code becomes ours, and what kept it from starting
 * is one line.
 */
export async function launchAndExit(script, args) {
  try {
    process.exitCode = await launch(script, args);
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
