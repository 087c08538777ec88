import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { leakedProcesses } from '../../support/leaks.ts';
import { temporaryFolder } from '../../support/temporary.ts';

/** A repository with one local dependency, so that `npm ci` needs no network. */
const lockFile = (version: string) =>
  JSON.stringify({
    ...{ name: 'tiny', version: '1.0.0', lockfileVersion: 3, requires: true },
    packages: {
      '': { name: 'tiny', version: '1.0.0', dependencies: { near: 'file:near' } },
      near: { version },
      'node_modules/near': { resolved: 'near', link: true },
    },
  });

/** Prints each signal that it receives; ends on SIGTERM or the second SIGINT. */
const LISTENER = `
let interrupts = 0;
process.on('SIGINT', () => { console.log('SIGINT'); if (++interrupts === 2) process.exit(7); });
process.on('SIGTERM', () => { console.log('SIGTERM'); process.exit(0); });
console.log('up', process.pid);
setInterval(() => {}, 1000);`;

/** Leaves a process in its group that ignores SIGTERM. */
const LITTER = `
import { spawn } from 'node:child_process';
const child = spawn('/bin/sh', ['-c', 'trap "" TERM; echo up; while :; do sleep 0.2; done'], { stdio: ['ignore', 'pipe', 'ignore'] });
child.stdout.once('data', () => process.kill(process.pid, 'SIGKILL'));`;

describe('the launcher', () => {
  const at = temporaryFolder();
  const started: ChildProcess[] = [];

  const lockVersion = async (version: string) => {
    await writeFile(at('near', 'package.json'), JSON.stringify({ name: 'near', version }));
    await writeFile(at('package-lock.json'), lockFile(version));
  };

  before(async () => {
    await mkdir(at('standalone'));
    await mkdir(at('near'));
    for (const file of ['launch.mjs', 'bootstrap.mjs', 'parent-watch.mjs'])
      await cp(
        fileURLToPath(new URL(`../../../standalone/${file}`, import.meta.url)),
        at('standalone', file),
      );
    await writeFile(
      at('package.json'),
      JSON.stringify({
        ...{ name: 'tiny', version: '1.0.0', type: 'module', dependencies: { near: 'file:near' } },
        scripts: { start: 'node standalone/bootstrap.mjs listener.ts' },
      }),
    );
    await lockVersion('1.0.0');
    await writeFile(at('listener.ts'), LISTENER);
    await writeFile(at('litter.ts'), LITTER);
    await writeFile(
      at('cat.ts'),
      'process.stdin.pipe(process.stdout); process.on("exit", () => console.log(process.argv.slice(2).join("+")));',
    );
    await writeFile(at('fail.ts'), 'process.exitCode = 42;');
  });

  afterEach(() => {
    for (const child of started.splice(0)) child.kill('SIGKILL');
  });

  /**
   * Runs in its own process group, like a foreground job of a terminal; `npm` stands for `npm start`,
   * which handles signals.
   */
  function launch(...args: string[]) {
    // The launcher detects npm by a variable, which these tests inherit from their own npm.
    const { npm_lifecycle_event: _event, ...env } = process.env;
    const [command, line] =
      args[0] === 'npm'
        ? ['npm', ['--silent', 'start']]
        : [process.execPath, [at('standalone/bootstrap.mjs'), ...args]];
    const child = spawn(command, line, {
      cwd: at(),
      env,
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    started.push(child);
    let out = '';
    child.stdout.on('data', chunk => {
      out += chunk;
    });
    // Without an own time limit, since a busy machine may take long.
    const saw = async (what: RegExp) => {
      for (;;) {
        const match = what.exec(out);
        if (match) return match;
        const [ended] = await Promise.race([
          once(child.stdout, 'data').then(() => []),
          once(child, 'close'),
        ]);
        if (ended !== undefined && !what.test(out)) throw new Error(`no ${what} in: ${out}`);
      }
    };
    return {
      child,
      saw,
      out: () => out,
      errors: text(child.stderr),
      ended: once(child, 'close') as Promise<[number | null, string | null]>,
    };
  }

  async function fails(): Promise<string> {
    const run = launch('fail.ts');
    expect(await run.ended).to.deep.equal([42, null]);
    expect(run.out()).to.equal('');
    return run.errors;
  }

  it('installs the packages once, and again when the lock file changes, and reports it on stderr only', async () => {
    expect(await fails()).to.include('npm ci');
    expect(await fails()).to.equal('');
    await lockVersion('1.0.1');
    expect(await fails()).to.include('npm ci');
    await rm(at('node_modules'), { recursive: true });
    expect(await fails()).to.include('npm ci');
    expect(await fails()).to.equal('');
  });

  it('accepts a manual `npm ci`', async () => {
    await rm(at('node_modules', '.pressroom-lock-hash'));
    expect(await fails()).to.equal('');
  });

  it('installs once when two launchers start at the same time', async () => {
    await rm(at('node_modules'), { recursive: true });
    const notices = await Promise.all([fails(), fails()]);
    expect(notices.filter(each => each.includes('npm ci'))).to.have.length(1);
  });

  it('runs the Node of its packages, for which npm 10 creates no link', async () => {
    const folder = at('node_modules', `node-linux-${process.arch}`, 'bin');
    await mkdir(folder, { recursive: true });
    await writeFile(
      join(folder, 'node'),
      `#!/bin/sh\necho ours >&2\nexec ${process.execPath} "$@"\n`,
      { mode: 0o755 },
    );
    expect(await fails()).to.equal('ours\n');
    await rm(dirname(folder), { recursive: true });
  });

  it('passes on arguments, standard input and the exit code', async () => {
    const { child, ended, out } = launch('cat.ts', 'a', '--b');
    child.stdin.end('hello\n');
    expect(await ended).to.deep.equal([0, null]);
    expect(out()).to.equal('hello\na+--b\n');
  });

  it('prints its usage without a script', async () => {
    const { errors, ended } = launch();
    expect(await ended).to.deep.equal([2, null]);
    expect(await errors).to.include('Usage');
  });

  it('forwards one Ctrl-C once, though the terminal and npm both deliver it, and then a later one', async () => {
    const { child, saw, ended, out } = launch('listener.ts');
    await saw(/up/);
    process.kill(-child.pid!, 'SIGINT');
    process.kill(child.pid!, 'SIGINT');
    await saw(/SIGINT/);
    // The launcher treats signals within a second as the same Ctrl-C, so the test needs real
    // time.
    await new Promise(resolve => setTimeout(resolve, 1_100));
    expect(out().match(/SIGINT/g)).to.have.length(1);
    process.kill(-child.pid!, 'SIGINT');
    expect(await ended).to.deep.equal([7, null]);
    expect(out().match(/SIGINT/g)).to.have.length(2);
  });

  it('forwards SIGTERM and ends with the exit code', async () => {
    const { child, saw, ended } = launch('listener.ts');
    await saw(/up/);
    child.kill('SIGTERM');
    expect(await ended).to.deep.equal([0, null]);
  });

  it('stops the script when the launcher is killed', async () => {
    const { child, saw } = launch('listener.ts');
    const pid = Number((await saw(/up (\d+)/))[1]);
    child.kill('SIGKILL');
    await saw(/SIGTERM/);
    await eventually(() => expect(() => process.kill(pid, 0)).to.throw('ESRCH'));
  });

  it('stops the script when npm sends SIGTERM to its shell, which does not forward it', async () => {
    const { child, saw, ended, out } = launch('npm');
    await saw(/up/);
    child.kill('SIGTERM');
    await saw(/SIGTERM/);
    await ended;
    expect(out().match(/SIGTERM/g)).to.have.length(1);
  });

  it('stops the script when npm is killed', async () => {
    const { child, saw } = launch('npm');
    const pid = Number((await saw(/up (\d+)/))[1]);
    child.kill('SIGKILL');
    await saw(/SIGTERM/);
    await eventually(() => expect(() => process.kill(pid, 0)).to.throw('ESRCH'));
  });

  it('ends the processes of a killed script, even if they ignore SIGTERM', async () => {
    const before = leakedProcesses();
    const { ended } = launch('litter.ts');
    expect(await ended).to.deep.equal([137, null]);
    // Processes of earlier tests may end meanwhile, so only new ones count.
    await eventually(() =>
      expect(leakedProcesses().filter(process => !before.includes(process))).to.deep.equal([]),
    );
  });
});
