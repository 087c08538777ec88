import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { findHelm, one, type Values } from './chart/helm.ts';
import { BUILD_LIMIT_MS } from './kube/binaries.ts';

const MINUTE_MS = 60_000;

describe('seccomp installer', function () {
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

  /** Runs the script with the volumes of the pod in a temporary folder, until it is ready. */
  async function start(values?: Values) {
    await rm(folder('tmp/done'), { force: true });
    const [program, ...args] = (await commandWith(values)).map(argument =>
      argument.replaceAll(/\/(profile|seccomp|tmp)(?=\/|")/g, path => folder(path.slice(1))),
    );
    const child = spawn(program!, args, { stdio: ['ignore', 'pipe', 'inherit'], detached: true });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
    const stop = async () => {
      child.kill('SIGTERM');
      const [code] = await once(child, 'exit');
      // Its `sleep`, which ends with the container in a real pod.
      try {
        process.kill(-child.pid!, 'SIGKILL');
      } catch {
        // It has already ended.
      }
      return { code, output };
    };
    await eventually(() => stat(folder('tmp/done')), MINUTE_MS);
    return stop;
  }

  it('installs the profile in the seccomp directory of the kubelet, and exits on SIGTERM', async () => {
    await writeFile(folder('profile/chrome.json'), '{"version":1}');
    const stop = await start();
    expect(await readFile(folder('seccomp/pressroom/chrome.json'), 'utf8')).to.equal(
      '{"version":1}',
    );
    expect((await stat(folder('seccomp/pressroom/chrome.json'))).mode & 0o777).to.equal(0o644);
    const { code, output } = await stop();
    expect(code).to.equal(0);
    expect(output).to.match(/Installed the seccomp profile on this node/);
  });

  it('replaces another version of the profile, and does not rewrite the same version', async () => {
    await writeFile(folder('profile/chrome.json'), '{"version":2}');
    expect((await (await start())()).output).to.match(/Installed the seccomp profile on this node/);
    expect(await readFile(folder('seccomp/pressroom/chrome.json'), 'utf8')).to.equal(
      '{"version":2}',
    );
    expect((await (await start())()).output).to.equal('');
  });

  it('installs the profile at the path that the pool uses', async () => {
    const stop = await start({
      pool: { chromeSandbox: { localhostProfile: 'company/browsers/pdf.json' } },
    });
    await stop();
    expect(await readFile(folder('seccomp/company/browsers/pdf.json'), 'utf8')).to.equal(
      '{"version":2}',
    );
  });
});
