// A Chrome that has grown old or large is replaced while the work goes on, and a page that grows without end ends alone.
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { type HeldPage, holdPage } from '../harness/held-page.ts';
import { failuresOf, type Load, startLoad } from '../harness/load.ts';
import { quiet } from '../harness/quiet.ts';
import { type Seat, type Site, type SiteAccount, startSite } from '../harness/site.ts';
import { browserOf, chromeLives, ofKind, type Sighting, watchWorker } from '../harness/worker-look.ts';

const SMALL = { html: '<p>x</p>' };

/** While a Chrome is replaced its worker is always ready, and it is one Chrome or two. */
function neverWithout(seen: Sighting[]): void {
  expect(seen.length).to.be.greaterThan(5);
  expect(seen.map(({ readyz }) => readyz)).to.not.include(503);
  expect(Math.min(...seen.map(({ browsers }) => browsers))).to.be.at.least(1);
  expect(Math.max(...seen.map(({ browsers }) => browsers))).to.be.at.most(2);
}

describe('a Chrome that is recycled', function () {
  this.timeout(120_000);
  let site: Site;
  let account: SiteAccount;
  let load: Load | undefined;
  let page: HeldPage | undefined;

  before(async () => {
    site = await startSite({ apis: 1, slots: 3 });
  });
  after(() => site?.stop());

  /** The first workers of the site run with this environment, the others not at all. */
  async function restart(count: number, env: Record<string, string>): Promise<Seat> {
    await Promise.all(site.workers.map(worker => worker.process.kill()));
    await Promise.all(site.workers.slice(0, count).map(worker => worker.start(env)));
    account = await site.account();
    return site.workers[0]!;
  }
  afterEach(async () => {
    if (page) site.witness.release(page.account.id);
    await load?.stop();
    load = undefined;
    page = undefined;
  });

  const recycled = async (worker: Seat) => (await chromeLives(worker)).starts['recycle'] ?? 0;
  const serving = async (worker: Seat) => (await worker.process.metrics()).by('pressroom_chromes', 'state');

  it('loses none of 200 renders while it is replaced every 20 of them', async () => {
    await restart(2, { PRESSROOM_CHROME_RECYCLE_RENDERS: '20' });
    const watches = site.workers.map(worker => watchWorker(worker));
    load = startLoad(4, () => site.render(account, SMALL));
    await load.until(200);
    const answers = await load.stop();
    expect(failuresOf(answers)).to.deep.equal([]);
    for (const watch of watches) neverWithout(await watch.stop());
    expect(await account.usage()).to.equal(answers.length);
    let replaced = 0;
    for (const worker of site.workers) {
      const { starts, deaths } = await chromeLives(worker);
      expect(deaths).to.deep.equal({});
      replaced += starts['recycle'] ?? 0;
    }
    expect(replaced).to.be.within(4, Math.floor(answers.length / 20));
    await quiet(site);
    for (const worker of site.workers) {
      await eventually(() => expect(ofKind(worker, 'browser')).to.have.length(1));
      expect(await serving(worker)).to.deep.equal({ serving: 1, retiring: 0 });
    }
  });

  it('never has a third Chrome beside it, however long a render keeps the old one', async () => {
    const worker = await restart(1, { PRESSROOM_CHROME_RECYCLE_RENDERS: '10' });
    page = await holdPage(site);
    const old = browserOf(worker);
    const watch = watchWorker(worker);
    load = startLoad(1, () => site.render(account, SMALL));
    await load.until(50);
    expect(await recycled(worker)).to.equal(1);
    expect(await serving(worker)).to.deep.equal({ serving: 1, retiring: 1 });
    expect(ofKind(worker, 'browser').map(({ pid }) => pid)).to.include(old);
    site.witness.release(page.account.id);
    expect((await page.answer).status).to.equal(200);
    expect(site.witness.calls(page.name)).to.equal(1);
    // What was due meanwhile comes now.
    await eventually(async () => expect(await recycled(worker)).to.equal(2));
    const answers = await load.stop();
    expect(failuresOf(answers)).to.deep.equal([]);
    neverWithout(await watch.stop());
    await eventually(() => expect(ofKind(worker, 'browser').map(({ pid }) => pid)).to.not.include(old));
    await quiet(site);
  });

  it('leaves the worker with a slot for the next render at every moment', async () => {
    const worker = await restart(1, { PRESSROOM_CHROME_RECYCLE_RENDERS: '1' });
    const atRest = async () => {
      const metrics = await worker.process.metrics();
      expect(metrics.sum('pressroom_slots', { state: 'ready' })).to.equal(3);
      expect(metrics.by('pressroom_chromes', 'state')).to.deep.equal({ serving: 1, retiring: 0 });
    };
    await eventually(atRest);
    const watch = watchWorker(worker, 0);
    for (let renders = 1; renders <= 4; renders++) {
      expect((await site.render(account, SMALL)).status).to.equal(200);
      await eventually(async () => expect(await recycled(worker)).to.equal(renders));
      await eventually(atRest);
    }
    const seen = await watch.stop();
    neverWithout(seen);
    expect(Math.min(...seen.map(({ usable }) => usable))).to.be.at.least(1);
    await quiet(site);
  });

  it('is replaced when its browser holds too much memory, and finishes what it has', async () => {
    const worker = await restart(1, { PRESSROOM_CHROME_PROBE_INTERVAL: '2s', PRESSROOM_CHROME_RECYCLE_MEMORY: '64MiB' });
    await site.render(account, SMALL);
    const old = browserOf(worker);
    const watch = watchWorker(worker);
    load = startLoad(1, () => site.render(account, SMALL));
    // Blobs live in the browser's process, as long as their page.
    const blobs = `<script>
      window.kept = Array.from({ length: 20 }, (_, index) => new Blob([new Uint8Array(4 << 20).fill(index)]));
    </script>`;
    const large = await site.account();
    const { html, ...waits } = site.witness.page(large.id, 'large');
    const answer = site.render(large, { html: blobs + html, ...waits });
    await eventually(async () => expect(await recycled(worker)).to.equal(1));
    site.witness.release(large.id);
    expect((await answer).status).to.equal(200);
    expect(site.witness.calls('large')).to.equal(1);
    const answered = load.answered();
    await load.until(answered + 20);
    expect(failuresOf(await load.stop())).to.deep.equal([]);
    neverWithout(await watch.stop());
    // The new one is small: it stays.
    expect(await chromeLives(worker)).to.deep.equal({ starts: { first: 1, recycle: 1 }, deaths: {} });
    await quiet(site);
    await eventually(() =>
      expect(ofKind(worker, 'browser').map(({ pid }) => pid))
        .to.have.length(1)
        .and.not.include(old),
    );
  });

  const leaks = [
    { where: 'in JavaScript', script: 'window.kept = []; for (;;) kept.push(new Array(100_000).fill(Math.random()).map(String));' },
    {
      where: 'outside of JavaScript',
      script: 'window.kept = []; setInterval(() => kept.push(new Uint8Array(4 << 20).fill(kept.length)), 1);',
    },
  ];
  it('is not touched by pages that grow without end: each ends alone, and is told why', async () => {
    const worker = await restart(1, { PRESSROOM_RENDER_MEMORY: '160MiB' });
    load = startLoad(1, () => site.render(account, SMALL));
    for (const { where, script } of leaks) {
      const leaking = await site.account();
      const answer = await site.render(leaking, { html: `<script>${script}</script>`, wait_for_expression: 'window.never' });
      expect(answer.status, where).to.equal(502);
      expect(answer.error(), where).to.include({ code: 'render_failed', reason: 'page_crash' });
      expect(answer.error().message, where).to.match(/memory/);
      expect(await leaking.usage(), where).to.equal(0);
    }
    const answers = await load.stop();
    expect(answers.length).to.be.greaterThan(0);
    expect(failuresOf(answers)).to.deep.equal([]);
    expect(await account.usage()).to.equal(answers.length);
    expect(await chromeLives(worker)).to.deep.equal({ starts: { first: 1 }, deaths: {} });
    await quiet(site);
  });
});
