import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { findHelm, one, type Values } from './chart/helm.ts';
import { BUILD_LIMIT_MS } from './kube/binaries.ts';

const MINUTE_MS = 60_000;

describe('the installer of the seccomp profile', function () {
  this.timeout(2 * MINUTE_MS);
  const folder = temporaryFolder();
  let commandWith: (values?: Values) => Promise<string[]>;

  before(async function () {
    this.timeout(BUILD_LIMIT_MS);
    const helm = await findHelm(this);
    commandWith = async (values = {}) =>
      one(await helm.template({ seccompInstaller: { enabled: true }, ...values }), 'DaemonSet').spec
        .template.spec.containers[0].command;
    for (const name of ['profile', 'seccomp', 'tmp']) await mkdir(folder(name));
  });

  /** Runs its script with the volumes of the pod in a folder of the test, until it is ready. */
  async function start(values?: Values) {
    await rm(folder('tmp/done'), { force: true });
    const [program, ...args] = (await commandWith(values)).map(word =>
      word.replaceAll(/\/(profile|seccomp|tmp)(?=\/|")/g, path => folder(path.slice(1))),
    );
    const child = spawn(program!, args, { stdio: ['ignore', 'pipe', 'inherit'], detached: true });
    let said = '';
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
    const stop = async () => {
      child.kill('SIGTERM');
      const [code] = await once(child, 'exit');
      // The pause that it was in, which a container's end takes with it.
      try {
        process.kill(-child.pid!, 'SIGKILL');
      } catch {
        // It ended with its shell.
      }
      return { code, said };
    };
    await eventually(() => stat(folder('tmp/done')), MINUTE_MS);
    return stop;
  }

  it('puts the profile where the kubelet looks for it, and ends when it is told to', async () => {
    await writeFile(folder('profile/chrome.json'), '{"version":1}');
    const stop = await start();
    expect(await readFile(folder('seccomp/pressroom/chrome.json'), 'utf8')).to.equal(
      '{"version":1}',
    );
    expect((await stat(folder('seccomp/pressroom/chrome.json'))).mode & 0o777).to.equal(0o644);
    const { code, said } = await stop();
    expect(code).to.equal(0);
    expect(said).to.match(/lies on this node now/);
  });

  it('replaces another version, and leaves its own alone', async () => {
    await writeFile(folder('profile/chrome.json'), '{"version":2}');
    expect((await (await start())()).said).to.match(/lies on this node now/);
    expect(await readFile(folder('seccomp/pressroom/chrome.json'), 'utf8')).to.equal(
      '{"version":2}',
    );
    expect((await (await start())()).said).to.equal('');
  });

  it('puts it under the name that the pool asks for', async () => {
    const stop = await start({
      pool: { chromeSandbox: { localhostProfile: 'company/browsers/pdf.json' } },
    });
    await stop();
    expect(await readFile(folder('seccomp/company/browsers/pdf.json'), 'utf8')).to.equal(
      '{"version":2}',
    );
  });
});
