// Chrome loses a process, or one stands still: what ran there is rendered elsewhere or fails clearly, others notice nothing, and nothing of it is left.
import { expect } from 'chai';
import { killQuietly } from '../../worker/chrome.ts';
import { eventually } from '../support/eventually.ts';
import { freeze } from '../support/freeze.ts';
import { type ChromeProcess, chromeProcesses, stillAlive } from './harness/chrome-processes.ts';
import { type HeldPage, holdPage } from './harness/held-page.ts';
import { failuresOf, type Load, startLoad } from './harness/load.ts';
import { quiet } from './harness/quiet.ts';
import { type ApiSeat, type Site, type SiteAccount, startSite } from './harness/site.ts';
import { BUSY_FIRST, browserOf, busiestRenderer, chromeLives, ofKind } from './harness/worker-look.ts';

const SMALL = { html: '<p>x</p>' };

describe('a Chrome of which a process is killed or frozen', function () {
  this.timeout(120_000);
  let site: Site;
  let crowd: SiteAccount;

  before(async () => {
    site = await startSite({ apis: 1, worker: { PRESSROOM_CHROME_PROBE_INTERVAL: '3s' } });
    crowd = await site.account();
  });
  after(() => site?.stop());
  afterEach(async () => {
    site.witness.release(page.account.id);
    await Promise.all([load.stop(), page.answer]);
  });

  let page: HeldPage;
  let processes: ChromeProcess[];
  let livesBefore: Awaited<ReturnType<typeof lives>>;
  let countedBefore: number;
  let load: Load;

  const lives = async () => ({ struck: await chromeLives(page.worker), other: await chromeLives(page.others[0]!) });
  const kill = (pid: number) => killQuietly(pid);

  /** A page is alive on the worker that will be struck, and small renders run on both. */
  async function begin({ small = SMALL, ...options }: { small?: object; first?: string; api?: ApiSeat } = {}): Promise<void> {
    page = await holdPage(site, options);
    processes = chromeProcesses(page.worker.process.pid);
    livesBefore = await lives();
    countedBefore = await crowd.usage();
    load = startLoad(3, () => site.render(crowd, small));
    await load.until(5);
  }

  /** None of the small renders failed, each is counted, and the worker that was not struck has the Chrome that it had. */
  async function end(): Promise<void> {
    const answers = await load.stop();
    expect(failuresOf(answers)).to.deep.equal([]);
    expect((await crowd.usage()) - countedBefore).to.equal(answers.length);
    await page.worker.process.untilReady();
    expect((await lives()).other).to.deep.equal(livesBefore.other);
    await quiet(site);
  }

  /** One more Chrome died, for one of these reasons, one was started in its place, and nothing of the old one is left. */
  async function died(...reasons: string[]): Promise<void> {
    const { starts, deaths } = livesBefore.struck;
    await eventually(async () => {
      const { struck } = await lives();
      expect(struck.starts).to.deep.equal({ ...starts, died: (starts['died'] ?? 0) + 1 });
      const more = Object.keys(struck.deaths).filter(reason => struck.deaths[reason] !== deaths[reason]);
      expect(reasons).to.include.members(more);
      expect(more.map(reason => struck.deaths[reason]! - (deaths[reason] ?? 0))).to.deep.equal([1]);
    });
    await eventually(() => expect(stillAlive(processes)).to.deep.equal([]));
  }

  /** The page comes up again elsewhere, once, and is delivered and counted once. */
  async function renderedElsewhere(): Promise<void> {
    await site.witness.until(page.account.id, 0);
    await site.witness.until(page.account.id, 1);
    site.witness.release(page.account.id);
    expect((await page.answer).status).to.equal(200);
    expect(site.witness.calls(page.name)).to.equal(2);
    expect(site.witness.most(page.account.id)).to.equal(1);
    expect(await page.account.usage()).to.equal(1);
  }

  async function goesOn(): Promise<void> {
    site.witness.release(page.account.id);
    expect((await page.answer).status).to.equal(200);
    expect(site.witness.calls(page.name)).to.equal(1);
    expect(await page.account.usage()).to.equal(1);
    expect((await lives()).struck).to.deep.equal(livesBefore.struck);
  }

  it('is replaced when its browser is killed, and its renders are tried elsewhere', async () => {
    await begin();
    kill(browserOf(page.worker));
    await renderedElsewhere();
    await died('exited');
    await end();
  });

  it('is replaced when it can start no renderer any more, and its renders are tried elsewhere', async () => {
    await begin();
    const answered = load.answered();
    // The browser process says nothing of it and answers as before. One of the two that Debian's Chrome calls zygote starts the renderers.
    for (const { pid } of ofKind(page.worker, 'zygote')) kill(pid);
    await renderedElsewhere();
    expect(load.answered()).to.be.greaterThan(answered);
    await died('unusable', 'exited'); // now and then the browser notices and ends by itself
    await end();
  });

  it('goes on when the renderer of one page is killed, which ends that page', async () => {
    await begin({ first: BUSY_FIRST });
    kill(busiestRenderer(page.worker));
    const answer = await page.answer;
    expect(answer.status).to.equal(502);
    expect(answer.error()).to.include({ code: 'render_failed', reason: 'page_crash' });
    expect(answer.error().message).to.match(/^The page crashed its browser process\./);
    expect(await page.account.usage()).to.equal(0);
    expect((await lives()).struck).to.deep.equal(livesBefore.struck);
    await end();
  });

  it('says that a page crashed, too, when its renderer is killed while it prints', async () => {
    const call = `http://127.0.0.1:${site.witness.port}/?account=prints&render=prints`;
    const rows = '<tr><td>one</td><td>two</td></tr>'.repeat(8_000);
    await begin({ first: `<table>${rows}</table><script>addEventListener('beforeprint', () => { fetch('${call}'); });</script>` });
    const renderer = busiestRenderer(page.worker);
    site.witness.release(page.account.id);
    await site.witness.until('prints', 1);
    kill(renderer);
    const answer = await page.answer;
    expect(answer.status).to.equal(502);
    expect(answer.error()).to.include({ code: 'render_failed', reason: 'page_crash' });
    expect((await lives()).struck).to.deep.equal(livesBefore.struck);
    await end();
  });

  it('gives nobody a page whose renderer was killed while it waited', async () => {
    await begin({ first: BUSY_FIRST });
    await load.stop();
    await eventually(async () => expect((await page.worker.process.metrics()).sum('pressroom_slots', { state: 'ready' })).to.equal(1));
    const own = busiestRenderer(page.worker);
    for (const { pid } of ofKind(page.worker, 'renderer')) if (pid !== own) kill(pid);
    await page.worker.process.said('a slot failed before it was used');
    countedBefore = await crowd.usage();
    load = startLoad(3, () => site.render(crowd, SMALL));
    await load.until(20);
    await goesOn();
    await end();
  });

  it('goes on when its GPU process is killed, and so does the page', async () => {
    await begin();
    const [before] = ofKind(page.worker, 'gpu-process');
    kill(before!.pid);
    await eventually(() =>
      expect(ofKind(page.worker, 'gpu-process').map(({ pid }) => pid))
        .to.have.length(1)
        .and.not.include(before!.pid),
    );
    const answered = load.answered();
    await load.until(answered + 10);
    await goesOn();
    await end();
  });

  it('is replaced when its network process is killed: open pages would go on without their images', async () => {
    site.witness.release(crowd.id); // its pages are finished as soon as they have reached the witness
    await begin({ small: site.witness.page(crowd.id, 'needs the network') });
    const [network] = ofKind(page.worker, 'utility');
    kill(network!.pid);
    await renderedElsewhere();
    await died('unusable');
    await end();
  });

  const hangs = {
    browser: () => browserOf(page.worker),
    'network process': () => ofKind(page.worker, 'utility')[0]!.pid,
  };
  for (const [what, pidOf] of Object.entries(hangs)) {
    it(`is killed and replaced when its ${what} is frozen, and its renders are tried elsewhere`, async () => {
      await begin();
      await freeze(pidOf());
      await renderedElsewhere();
      await died('hung');
      await end();
    });
  }

  it('leaves nothing when a process of it stood still as it died', async () => {
    await begin();
    const [gpu] = ofKind(page.worker, 'gpu-process');
    await freeze(gpu!.pid);
    kill(browserOf(page.worker));
    await renderedElsewhere();
    await died('exited');
    await end();
  });

  it('goes on when one renderer is frozen: that render ends at its own limit', async () => {
    const api = site.apis[1] ?? (await site.addApi({ PRESSROOM_RENDER_TIMEOUT: '10s' }));
    await begin({ first: BUSY_FIRST, api });
    const frozen = busiestRenderer(page.worker);
    await freeze(frozen);
    const answer = await page.answer;
    expect(answer.status).to.equal(502);
    expect(answer.error()).to.include({ code: 'render_failed', reason: 'page_timeout' });
    expect(answer.error().message).to.match(/^The render took longer than 10 s/);
    expect(await page.account.usage()).to.equal(0);
    await eventually(() => expect(ofKind(page.worker, 'renderer').map(({ pid }) => pid)).to.not.include(frozen));
    expect((await lives()).struck).to.deep.equal(livesBefore.struck);
    await end();
  });
});
