// The disk of Chrome's profiles is full: running renders continue, the restart of a Chrome is
// retried with backoff, and the worker recovers when space is free.
import { execFileSync } from 'node:child_process';
import { closeSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { skip } from '../../support/skip.ts';
import {
  type Deployment,
  type DeploymentAccount,
  type Replica,
  startDeployment,
} from '../harness/deployment.ts';
import { failuresOf, type Load, startLoad } from '../harness/load.ts';
import { quiet } from '../harness/quiet.ts';
import {
  chromeLives,
  ofKind,
  profilesIn,
  slotChromes,
  untilAllReady,
  watchWorker,
} from '../harness/worker-look.ts';

const FOR_FILES = 800;
const SLOTS = 2;

describe('a Chrome with a full disk', function () {
  this.timeout(120_000);
  let disk: string;
  let mounted = false;
  let deployment: Deployment | undefined;
  let account: DeploymentAccount;
  let worker: Replica;

  before(async function () {
    disk = await mkdtemp(join(tmpdir(), 'pressroom-test-'));
    try {
      execFileSync(
        'mount',
        ['-t', 'tmpfs', '-o', `size=32m,nr_inodes=${FOR_FILES}`, 'pressroom-test', disk],
        { stdio: 'ignore' },
      );
      mounted = true;
    } catch {
      return skip(this, 'a small disk cannot be mounted here');
    }
    await chmod(disk, 0o777); // Chrome is another user
    deployment = await startDeployment({ apis: 1, slots: SLOTS });
    account = await deployment.account();
    worker = deployment.workers[0]!;
    await worker.process.kill();
    await worker.start({ TMPDIR: disk });
    await untilAllReady(worker);
    expect(profilesIn(disk, worker.process.pid)).to.have.length(SLOTS);
  });
  after(async () => {
    await deployment?.stop();
    if (mounted) execFileSync('umount', ['-l', disk]); // also while a process that ends has it open
    await rm(disk, { recursive: true });
  });

  let load: Load | undefined;
  afterEach(() => load?.stop());

  const render = () =>
    deployment!.render(account, {
      html: '<p>x</p><canvas id="c"></canvas><script>c.getContext("2d").fillRect(0, 0, 9, 9)</script>',
    });

  /** Fills the disk until no byte can be written and no file created. */
  function fill(): void {
    const until = (act: () => void) => {
      try {
        for (;;) act();
      } catch (error) {
        expect((error as NodeJS.ErrnoException).code).to.equal('ENOSPC');
      }
    };
    const block = Buffer.alloc(65_536);
    const made: number[] = [];
    until(() => made.push(openSync(`${disk}/fill-${process.hrtime.bigint()}`, 'w')));
    for (const one of made) until(() => writeSync(one, block));
    for (const one of made) closeSync(one);
  }
  const makeRoom = () => {
    for (const name of readdirSync(disk)) if (name.startsWith('fill-')) rmSync(`${disk}/${name}`);
  };

  it('continues to render, is down when it cannot restart, and recovers when space is free', async () => {
    load = startLoad(3, render);
    await load.until(10);
    fill();
    const onFull = load.answered();
    await load.until(onFull + 20);
    expect(await chromeLives(worker)).to.deep.equal({ starts: { first: SLOTS }, deaths: {} });

    const problem = `Cannot create a profile folder for Chrome in ${disk} (ENOSPC). Free space there, or set TMPDIR to another folder.`;
    const ready: number[] = [];
    // The space that the killed Chromes free is filled at once.
    const filling = setInterval(fill, 5);
    try {
      for (const [slot, browser] of Object.entries(slotChromes(worker))) {
        ready.push(await worker.process.probe('/readyz'));
        process.kill(browser, 'SIGKILL');
        const line = await worker.process.logLine(
          'chrome could not be restarted',
          line => line['slot'] === Number(slot),
        );
        expect((line['err'] as Error).message).to.equal(problem);
      }
    } finally {
      clearInterval(filling);
    }
    // The worker is ready with one serving slot.
    expect(ready).to.deep.equal([200, 200]);
    const watch = watchWorker(worker);
    const down = load.answered();
    await load.until(down + 20);
    await sleep(1_000);
    const seen = await watch.stop();
    expect(new Set(seen.map(({ readyz }) => readyz))).to.deep.equal(new Set([503]));
    expect(new Set(seen.map(({ livez }) => livez))).to.deep.equal(new Set([200]));

    makeRoom();
    await untilAllReady(worker, 30_000);
    const again = load.answered();
    await load.until(again + 20);
    const answers = await load.stop();
    expect(failuresOf(answers)).to.deep.equal([]);
    expect(await account.usage()).to.equal(answers.length);
    const { starts, deaths } = await chromeLives(worker);
    expect(starts).to.deep.equal({ first: SLOTS, died: SLOTS });
    expect(deaths).to.include({ exited: SLOTS }).and.have.all.keys('exited', 'not_started');
    await eventually(() => expect(ofKind(worker, 'browser')).to.have.length(SLOTS));
    expect(profilesIn(disk, worker.process.pid)).to.have.length(SLOTS);
    expect(await chromeLives(deployment!.workers[1]!)).to.deep.equal({
      starts: { first: SLOTS },
      deaths: {},
    });
    await quiet(deployment!);
  });
});
