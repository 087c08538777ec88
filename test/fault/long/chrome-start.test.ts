// Chrome does not start, at first or again: the worker says so at every probe, tries again ever more slowly, and serves as soon as it can. And a worker that
// is killed leaves nothing behind.
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { killQuietly } from '../../../worker/chrome.ts';
import { findChrome } from '../../../worker/find-chrome.ts';
import { eventually } from '../../support/eventually.ts';
import { freeze } from '../../support/freeze.ts';
import { httpCall } from '../../support/http-call.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { chromeProcesses, stillAlive } from '../harness/chrome-processes.ts';
import { failuresOf, type Load, startLoad } from '../harness/load.ts';
import { quiet } from '../harness/quiet.ts';
import { type Seat, type Site, type SiteAccount, startSite } from '../harness/site.ts';
import { browserOf, chromeLives, ofKind, profilesIn, watchWorker } from '../harness/worker-look.ts';

const SMALL = { html: '<p>x</p>' };
/** Between the end of a Chrome and the starts that fail, at least. */
const BACKOFF_MS = [250, 1_000, 2_000];

describe('a Chrome that does not start again', function () {
  this.timeout(120_000);
  const file = temporaryFolder();
  let site: Site;
  let account: SiteAccount;
  let script: string;

  before(async () => {
    // Chrome is another user than the tests: it writes down each start, and fails while the file `broken` is there.
    chmodSync(file(), 0o777);
    script = file('chrome');
    const chrome = findChrome(process.env.PRESSROOM_CHROME);
    const lines = ['#!/bin/sh', `date +%s%3N >> ${file()}/starts`, `[ -e ${file('broken')} ] && echo out of order >&2 && exit 3`];
    writeFileSync(script, [...lines, `exec ${chrome} "$@"`, ''].join('\n'), { mode: 0o755 });
    mkdirSync(file('tmp'));
    chmodSync(file('tmp'), 0o777);
    site = await startSite({ apis: 1 });
  });
  after(() => site?.stop());
  beforeEach(async () => {
    account = await site.account();
    const [worker, other] = site.workers as [Seat, Seat];
    await worker.process.kill();
    rmSync(file('starts'), { force: true });
    await worker.start(scripted());
    if (!other.process.alive()) await other.start();
  });
  let load: Load | undefined;
  afterEach(async () => {
    rmSync(file('broken'), { force: true });
    await load?.stop();
    load = undefined;
  });

  const scripted = () => ({ PRESSROOM_CHROME: script, TMPDIR: file('tmp') });
  /** When the script was called, ms. */
  const starts = () => (existsSync(file('starts')) ? readFileSync(file('starts'), 'utf8').trim().split('\n').map(Number) : []);
  const readyz = async () => {
    const answer = await httpCall(site.apis[0]!.port, 'GET', '/readyz');
    return { status: answer.status, workers: JSON.parse(answer.body.toString()).checks.workers };
  };

  it('is down for all to see, is tried again ever more slowly, and comes back', async () => {
    const [worker] = site.workers as [Seat];
    load = startLoad(3, () => site.render(account, SMALL));
    await load.until(5);
    writeFileSync(file('broken'), '');
    const diedMs = Date.now();
    process.kill(browserOf(worker), 'SIGKILL');
    await worker.process.said('chrome died');
    const watch = watchWorker(worker);
    await eventually(() => expect(starts()).to.have.length(1 + BACKOFF_MS.length));
    await eventually(async () => expect(await readyz()).to.deep.equal({ status: 200, workers: { ready: 1, slots: 2 } }));
    const said = await worker.process.said('chrome could not be restarted');
    expect((said['err'] as Error).message).to.equal(`${script} ended at its start: exit code 3; it said: out of order`);
    const seen = await watch.stop();
    expect(new Set(seen.map(({ readyz }) => readyz))).to.deep.equal(new Set([503]));
    expect(new Set(seen.map(({ livez }) => livez))).to.deep.equal(new Set([200]));
    expect(Math.max(...seen.map(({ usable }) => usable))).to.equal(0);

    const failed = starts().slice(1);
    const waits = failed.map((startMs, index) => startMs - (failed[index - 1] ?? diedMs));
    for (const [index, ms] of BACKOFF_MS.entries()) expect(waits[index], `waits ${waits}`).to.be.at.least(ms);

    rmSync(file('broken'));
    await worker.process.untilReady();
    expect(await readyz()).to.deep.equal({ status: 200, workers: { ready: 2, slots: 4 } });
    const answered = load.answered();
    await load.until(answered + 20);
    const answers = await load.stop();
    expect(failuresOf(answers)).to.deep.equal([]);
    expect(await account.usage()).to.equal(answers.length);
    // The last of the starts is the good one.
    const lives = await chromeLives(worker);
    expect(lives).to.deep.equal({ starts: { first: 1, died: 1 }, deaths: { exited: 1, not_started: starts().length - 2 } });
    expect(profilesIn(file('tmp'), worker.process.pid)).to.have.length(1);
    await quiet(site);
  });

  it('leaves the old one at work when it was to be recycled, and does not try at every render', async () => {
    const [worker, other] = site.workers as [Seat, Seat];
    await other.process.kill();
    await worker.process.kill();
    await worker.start({ ...scripted(), PRESSROOM_CHROME_RECYCLE_RENDERS: '5' });
    writeFileSync(file('broken'), '');
    const before = starts().length;
    const watch = watchWorker(worker);
    load = startLoad(1, () => site.render(account, SMALL));
    await load.until(5);
    await eventually(() => expect(starts()).to.have.length(before + 2));
    const answered = load.answered();
    await load.until(answered + 10);
    const failed = starts().slice(before);
    for (const [index, ms] of BACKOFF_MS.slice(0, failed.length - 1).entries())
      expect(failed[index + 1]! - failed[index]!, `starts ${failed}`).to.be.at.least(ms);
    rmSync(file('broken'));
    await eventually(async () => expect((await chromeLives(worker)).starts['recycle']).to.be.at.least(1));
    expect(failuresOf(await load.stop())).to.deep.equal([]);
    expect((await watch.stop()).map(({ readyz }) => readyz)).to.not.include(503);
    await quiet(site);
  });

  it('lets renders wait when it was the only one, and the API says that it is not ready', async () => {
    const [worker, other] = site.workers as [Seat, Seat];
    await other.process.kill();
    writeFileSync(file('broken'), '');
    process.kill(browserOf(worker), 'SIGKILL');
    await eventually(async () => expect(await readyz()).to.deep.equal({ status: 503, workers: { ready: 0, slots: 0 } }));
    const call = site.render(account, SMALL);
    await eventually(async () => expect((await site.apis[0]!.process.metrics()).sum('pressroom_queue_depth')).to.equal(1));
    expect(await site.apis[0]!.process.probe('/readyz')).to.equal(200); // itself it is well
    rmSync(file('broken'));
    expect((await call).status).to.equal(200);
    await eventually(async () => expect(await readyz()).to.deep.equal({ status: 200, workers: { ready: 1, slots: 2 } }));
    await quiet(site);
  });

  it('leaves no process when its worker is killed, and the next worker removes its profile', async () => {
    const [worker] = site.workers as [Seat];
    const { pid } = worker.process;
    const processes = chromeProcesses(pid);
    expect(processes.length).to.be.greaterThan(4);
    expect(profilesIn(file('tmp'), pid)).to.have.length(1);
    await worker.process.kill();
    await eventually(() => expect(stillAlive(processes)).to.deep.equal([]));
    expect(profilesIn(file('tmp'), pid)).to.have.length(1);
    await worker.start(scripted());
    expect(profilesIn(file('tmp'), pid)).to.deep.equal([]);
  });

  it('is ended by the next worker when it stood still as its own was killed', async () => {
    const [worker] = site.workers as [Seat];
    const { pid } = worker.process;
    const processes = chromeProcesses(pid);
    await freeze(browserOf(worker));
    try {
      await worker.process.kill();
      expect(stillAlive(processes)).to.not.deep.equal([]);
      await worker.start(scripted());
      await eventually(() => expect(stillAlive(processes)).to.deep.equal([]));
    } finally {
      for (const { pid: left } of stillAlive(processes)) killQuietly(left);
    }
    expect(profilesIn(file('tmp'), pid)).to.deep.equal([]);
    expect(ofKind(worker, 'browser')).to.have.length(1);
  });
});
