import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { skip } from '../../support/skip.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { createCgroups } from './cgroups.ts';
import { whyNoNode } from './node-programs.ts';

/** A process that starts a node host and cgroups and does not clean up. */
const NO_CLEANUP = `
import { createCgroups } from '${new URL('cgroups.ts', import.meta.url).href}';
import { startNodeHost } from '${new URL('node-host.ts', import.meta.url).href}';
const host = await startNodeHost(process.argv[1]);
await createCgroups();
const sleeper = host.start('sleeper', ['sleep', '3601'], process.argv[1] + '/sleeper.log');
process.stdout.write(host.machineAddress + '\\n');
await sleeper.exited;`;

describe('node host', function () {
  this.timeout(120_000);
  const at = temporaryFolder();

  before(async function () {
    const why = await whyNoNode(console.log);
    if (why !== undefined) skip(this, why);
  });

  it('ends with all its processes when its parent process is killed', async () => {
    const child = spawn(process.execPath, ['--input-type=module', '--eval', NO_CLEANUP, at('.')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [address] = (await once(child.stdout, 'data')).map(String);
    const addresses = () => execFileSync('ip', ['-o', 'address'], { encoding: 'utf8' });
    const cgroups = () =>
      readdirSync('/sys/fs/cgroup', { recursive: true, encoding: 'utf8' }).filter(name =>
        name.endsWith(`-node-${child.pid}`),
      );
    const sleepers = () =>
      execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
        .split('\n')
        .filter(line => line === 'sleep 3601').length;
    expect(addresses()).to.include(`${address!.trim()}/`);
    await eventually(() => expect(sleepers()).to.equal(1));
    expect(cgroups()).to.not.deep.equal([]);
    child.kill('SIGKILL');
    await once(child, 'close');
    await eventually(() => {
      expect(sleepers()).to.equal(0);
      expect(addresses()).to.not.include(`${address!.trim()}/`);
    }, 60_000);
    // The next node removes leftover cgroups.
    await (await createCgroups()).remove();
    expect(cgroups()).to.deep.equal([]);
  });
});
