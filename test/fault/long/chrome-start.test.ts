// The Chrome of a slot does not restart: the slot retries with backoff, and the worker is ready
// while another slot is. A killed worker leaves nothing behind.
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { killQuietly } from '../../../worker/browser/chrome.ts';
import { findChrome } from '../../../worker/browser/find-chrome.ts';
import { eventually } from '../../support/eventually.ts';
import { freeze } from '../../support/freeze.ts';
import { httpCall } from '../../support/http-call.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { chromeProcesses, stillAlive } from '../harness/chrome-processes.ts';
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

const SMALL = { html: '<p>x</p>' };
/** Slots of each worker. */
const SLOTS = 2;
/** The least time between the end of a Chrome and the failed starts. */
const BACKOFF_MS = [250, 1_000, 2_000];

describe('a Chrome that does not restart', function () {
  this.timeout(120_000);
  const file = temporaryFolder();
  let deployment: Deployment;
  let account: DeploymentAccount;
  let script: string;

  before(async () => {
    // The script records each start as another user, and fails while the file `broken` exists.
    chmodSync(file(), 0o777);
    script = file('chrome');
    const chrome = findChrome(process.env.PRESSROOM_CHROME);
    const lines = [
      '#!/bin/sh',
      `date +%s%3N >> ${file()}/starts`,
      `[ -e ${file('broken')} ] && echo out of order >&2 && exit 3`,
    ];
    writeFileSync(script, [...lines, `exec ${chrome} "$@"`, ''].join('\n'), { mode: 0o755 });
    mkdirSync(file('tmp'));
    chmodSync(file('tmp'), 0o777);
    deployment = await startDeployment({ apis: 1, slots: SLOTS });
  });
  after(() => deployment?.stop());
  beforeEach(async () => {
    account = await deployment.account();
    const [worker, other] = deployment.workers as [Replica, Replica];
    await worker.process.kill();
    rmSync(file('starts'), { force: true });
    await worker.start(scripted());
    if (!other.process.alive()) await other.start();
    await Promise.all(deployment.workers.map(each => untilAllReady(each)));
  });
  let load: Load | undefined;
  afterEach(async () => {
    rmSync(file('broken'), { force: true });
    await load?.stop();
    load = undefined;
  });

  const scripted = () => ({ PRESSROOM_CHROME: script, TMPDIR: file('tmp') });
  /** The times of the starts, in ms. */
  const starts = () =>
    existsSync(file('starts'))
      ? readFileSync(file('starts'), 'utf8').trim().split('\n').map(Number)
      : [];
  const readyz = async () => {
    const answer = await httpCall(deployment.apis[0]!.port, 'GET', '/readyz');
    return { status: answer.status, workers: JSON.parse(answer.body.toString()).checks.workers };
  };

  /** The waits between the failed starts since the Chrome of the broken slot ended. */
  function backsOff(diedMs: number): void {
    const failed = starts().slice(SLOTS);
    const waits = failed.map((startMs, index) => startMs - (failed[index - 1] ?? diedMs));
    for (const [index, ms] of BACKOFF_MS.entries())
      expect(waits[index], `waits ${waits}`).to.be.at.least(ms);
  }

  it('is retried with backoff while the other slot serves', async () => {
    const [worker, other] = deployment.workers as [Replica, Replica];
    await other.process.kill();
    const { 1: broken, 2: whole } = slotChromes(worker);
    load = startLoad(3, () => deployment.render(account, SMALL));
    await load.until(5);
    writeFileSync(file('broken'), '');
    const diedMs = Date.now();
    killQuietly(broken!);
    const line = await worker.process.logLine('chrome could not be restarted');
    expect(line['slot']).to.equal(1);
    expect((line['err'] as Error).message).to.equal(
      `${script} exited while starting: exit code 3. Last output: out of order`,
    );
    const watch = watchWorker(worker);
    const alone = load.answered();
    await eventually(() => expect(starts()).to.have.length(SLOTS + BACKOFF_MS.length));
    await load.until(alone + 20);
    expect(await readyz()).to.deep.equal({ status: 200, workers: { ready: 1, slots: SLOTS } });
    const seen = await watch.stop();
    expect(new Set(seen.map(({ readyz, livez }) => `${readyz} ${livez}`))).to.deep.equal(
      new Set(['200 200']),
    );
    expect(Math.max(...seen.map(({ usable }) => usable))).to.equal(1);
    backsOff(diedMs);

    rmSync(file('broken'));
    await eventually(() => expect(slotChromes(worker)[1]).to.not.equal(broken));
    const answered = load.answered();
    await load.until(answered + 20);
    const answers = await load.stop();
    expect(failuresOf(answers)).to.deep.equal([]);
    expect(await account.usage()).to.equal(answers.length);
    // The last start succeeds.
    const deaths = { exited: 1, not_started: starts().length - SLOTS - 1 };
    expect(await chromeLives(worker, 1)).to.deep.equal({ starts: { first: 1, died: 1 }, deaths });
    expect(await chromeLives(worker, 2)).to.deep.equal({ starts: { first: 1 }, deaths: {} });
    expect(slotChromes(worker)[2]).to.equal(whole);
    expect(profilesIn(file('tmp'), worker.process.pid)).to.have.length(SLOTS);
    await quiet(deployment);
  });

  it('makes its worker unready when no other slot is ready, until it starts', async () => {
    const [worker] = deployment.workers as [Replica];
    load = startLoad(3, () => deployment.render(account, SMALL));
    await load.until(5);
    writeFileSync(file('broken'), '');
    for (const browser of Object.values(slotChromes(worker))) killQuietly(browser);
    for (const slot of [1, 2])
      await worker.process.logLine('chrome could not be restarted', line => line['slot'] === slot);
    await eventually(async () =>
      expect(await readyz()).to.deep.equal({ status: 200, workers: { ready: 1, slots: SLOTS } }),
    );
    const watch = watchWorker(worker);
    const down = load.answered();
    await load.until(down + 20);
    const seen = await watch.stop();
    expect(new Set(seen.map(({ readyz, livez }) => `${readyz} ${livez}`))).to.deep.equal(
      new Set(['503 200']),
    );
    expect(Math.max(...seen.map(({ usable }) => usable))).to.equal(0);

    rmSync(file('broken'));
    await untilAllReady(worker, 30_000);
    expect(await worker.process.probe('/readyz')).to.equal(200);
    await eventually(async () =>
      expect(await readyz()).to.deep.equal({
        status: 200,
        workers: { ready: 2, slots: 2 * SLOTS },
      }),
    );
    const answered = load.answered();
    await load.until(answered + 20);
    const answers = await load.stop();
    expect(failuresOf(answers)).to.deep.equal([]);
    expect(await account.usage()).to.equal(answers.length);
    const { starts: started, deaths } = await chromeLives(worker);
    expect(started).to.deep.equal({ first: SLOTS, died: SLOTS });
    expect(deaths).to.deep.equal({ exited: SLOTS, not_started: starts().length - 2 * SLOTS });
    await quiet(deployment);
  });

  it('leaves renders in the queue and the API unready when its worker is the only one', async () => {
    const [worker, other] = deployment.workers as [Replica, Replica];
    await other.process.kill();
    writeFileSync(file('broken'), '');
    for (const browser of Object.values(slotChromes(worker))) killQuietly(browser);
    await eventually(async () =>
      expect(await readyz()).to.deep.equal({ status: 503, workers: { ready: 0, slots: 0 } }),
    );
    const call = deployment.render(account, SMALL);
    await eventually(async () =>
      expect((await deployment.apis[0]!.process.metrics()).sum('pressroom_queue_depth')).to.equal(
        1,
      ),
    );
    expect(await deployment.apis[0]!.process.probe('/readyz')).to.equal(200); // itself it is well
    rmSync(file('broken'));
    expect((await call).status).to.equal(200);
    await eventually(async () =>
      expect(await readyz()).to.deep.equal({ status: 200, workers: { ready: 1, slots: SLOTS } }),
    );
    await quiet(deployment);
  });

  it('leaves no process when its worker is killed, and the next worker deletes the profiles', async () => {
    const [worker] = deployment.workers as [Replica];
    const { pid } = worker.process;
    const processes = chromeProcesses(pid);
    expect(processes.length).to.be.greaterThan(4);
    expect(profilesIn(file('tmp'), pid)).to.have.length(SLOTS);
    await worker.process.kill();
    await eventually(() => expect(stillAlive(processes)).to.deep.equal([]));
    expect(profilesIn(file('tmp'), pid)).to.have.length(SLOTS);
    await worker.start(scripted());
    expect(profilesIn(file('tmp'), pid)).to.deep.equal([]);
  });

  it('is killed by the next worker when it was frozen while its own was killed', async () => {
    const [worker] = deployment.workers as [Replica];
    const { pid } = worker.process;
    const processes = chromeProcesses(pid);
    for (const browser of Object.values(slotChromes(worker))) await freeze(browser);
    try {
      await worker.process.kill();
      expect(stillAlive(processes)).to.not.deep.equal([]);
      await worker.start(scripted());
      await eventually(() => expect(stillAlive(processes)).to.deep.equal([]));
    } finally {
      for (const { pid: left } of stillAlive(processes)) killQuietly(left);
    }
    expect(profilesIn(file('tmp'), pid)).to.deep.equal([]);
    await untilAllReady(worker);
    expect(ofKind(worker, 'browser')).to.have.length(SLOTS);
  });
});
