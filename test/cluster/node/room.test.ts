import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { skip } from '../../support/skip.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { createCgroups } from './cgroups.ts';
import { whyNoNode } from './node-programs.ts';

/** A process with a room and cgroups in which something runs, that does not clean up. */
const CARELESS = `
import { createCgroups } from '${new URL('cgroups.ts', import.meta.url).href}';
import { openRoom } from '${new URL('room.ts', import.meta.url).href}';
const room = await openRoom(process.argv[1]);
await createCgroups();
const sleeper = room.start('sleeper', ['sleep', '3601'], process.argv[1] + '/sleeper.log');
process.stdout.write(room.machineAddress + '\\n');
await sleeper.exited;`;

describe('the room of a node', function () {
  this.timeout(120_000);
  const at = temporaryFolder();

  before(async function () {
    const why = await whyNoNode(console.log);
    if (why !== undefined) skip(this, why);
  });

  it('is gone with all that runs inside when the process that opened it is killed', async () => {
    const child = spawn(process.execPath, ['--input-type=module', '--eval', CARELESS, at('.')], {
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
    // The next one finds what only a file system remembers.
    await (await createCgroups()).remove();
    expect(cgroups()).to.deep.equal([]);
  });
});
