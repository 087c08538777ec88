// The Chrome of a slot is replaced after a number of renders while the other slots serve.
import { chmodSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { findChrome } from '../../../worker/browser/find-chrome.ts';
import { eventually } from '../../support/eventually.ts';
import { processOf } from '../../support/processes.ts';
import { temporaryFolder } from '../../support/temporary.ts';
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
  type Sighting,
  slotChromes,
  untilAllReady,
  watchWorker,
} from '../harness/worker-look.ts';

const SMALL = { html: '<p>x</p>' };
const SLOTS = 3;

/** During a replacement the worker is ready, and each slot has at most two Chromes. */
function neverWithout(seen: Sighting[]): void {
  expect(seen.length).to.be.greaterThan(5);
  expect(seen.map(({ readyz }) => readyz)).to.not.include(503);
  expect(Math.max(...seen.map(({ browsers }) => browsers))).to.be.at.most(2 * SLOTS);
}

describe('a recycled Chrome', function () {
  this.timeout(300_000);
  const file = temporaryFolder();
  let deployment: Deployment;
  let account: DeploymentAccount;
  let load: Load | undefined;

  before(async () => {
    chmodSync(file(), 0o777); // Chrome is another user
    deployment = await startDeployment({ apis: 1, slots: SLOTS });
  });
  after(() => deployment?.stop());

  /** Starts the first `count` workers with this environment and stops the others. */
  async function restart(count: number, env: Record<string, string>): Promise<Replica> {
    await Promise.all(deployment.workers.map(worker => worker.process.kill()));
    const started = deployment.workers.slice(0, count);
    await Promise.all(started.map(worker => worker.start(env)));
    await Promise.all(started.map(worker => untilAllReady(worker)));
    account = await deployment.account();
    return deployment.workers[0]!;
  }
  afterEach(async () => {
    await load?.stop();
    load = undefined;
  });

  const recycled = async (worker: Replica) => (await chromeLives(worker)).starts['recycle'] ?? 0;
  const chromes = async (worker: Replica) =>
    (await worker.process.metrics()).by('pressroom_chromes', 'state');

  it('loses none of 200 renders while each Chrome is replaced after 20', async () => {
    await restart(2, { PRESSROOM_CHROME_RECYCLE_RENDERS: '20' });
    const watches = deployment.workers.map(worker => watchWorker(worker));
    load = startLoad(4, () => deployment.render(account, SMALL));
    await load.until(200);
    const answers = await load.stop();
    expect(failuresOf(answers)).to.deep.equal([]);
    for (const watch of watches) neverWithout(await watch.stop());
    expect(await account.usage()).to.equal(answers.length);
    let replaced = 0;
    for (const worker of deployment.workers) {
      const { starts, deaths } = await chromeLives(worker);
      expect(deaths).to.deep.equal({});
      replaced += starts['recycle'] ?? 0;
    }
    // Each of six slots may be before its next replacement.
    expect(replaced).to.be.within(
      Math.ceil(answers.length / 20) - 2 * SLOTS,
      Math.floor(answers.length / 20),
    );
    await quiet(deployment);
    for (const worker of deployment.workers) {
      expect(ofKind(worker, 'browser')).to.have.length(SLOTS);
      expect(await chromes(worker)).to.deep.equal({ serving: SLOTS, retiring: 0 });
    }
  });

  it('never has two others in its slot, however slowly the old one ends', async () => {
    const script = file('chrome');
    // The shell outlives Chrome until the worker kills the whole group after two seconds.
    const lines = ['#!/bin/sh', `${findChrome(process.env.PRESSROOM_CHROME)} "$@"`, 'sleep 5'];
    writeFileSync(script, [...lines, ''].join('\n'), { mode: 0o755 });
    const env = {
      PRESSROOM_CHROME: script,
      PRESSROOM_SLOTS: '1',
      PRESSROOM_CHROME_RECYCLE_RENDERS: '1',
    };
    const worker = await restart(1, env);
    /** One for each Chrome. A forked shell before its exec looks the same but is no child. */
    const shells = () =>
      ofKind(worker, 'launcher').filter(({ pid }) => processOf(pid)?.parent === worker.process.pid);
    const most = { chromes: 0, beside: 0 };
    load = startLoad(2, () => deployment.render(account, SMALL));
    while (load.answered() < 8) {
      const { serving, retiring } = await chromes(worker);
      most.chromes = Math.max(most.chromes, shells().length, serving! + retiring!);
      if (serving === 1) most.beside = Math.max(most.beside, retiring!);
    }
    expect(failuresOf(await load.stop())).to.deep.equal([]);
    expect(most).to.deep.equal({ chromes: 2, beside: 1 });
    await quiet(deployment);
  });

  it('does not affect the Chromes of other slots', async () => {
    const worker = await restart(1, { PRESSROOM_CHROME_RECYCLE_RENDERS: '1' });
    const watch = watchWorker(worker, 0);
    for (let renders = 1; renders <= 4; renders++) {
      const before = slotChromes(worker);
      expect((await deployment.render(account, SMALL)).status).to.equal(200);
      await eventually(async () => expect(await recycled(worker)).to.equal(renders));
      await untilAllReady(worker);
      const now = slotChromes(worker);
      expect(
        Object.keys(now).filter(slot => now[Number(slot)] !== before[Number(slot)]),
      ).to.have.length(1);
      await eventually(async () =>
        expect(await chromes(worker)).to.deep.equal({ serving: SLOTS, retiring: 0 }),
      );
    }
    const seen = await watch.stop();
    neverWithout(seen);
    expect(Math.min(...seen.map(({ usable }) => usable))).to.equal(SLOTS - 1);
    await quiet(deployment);
  });
});
