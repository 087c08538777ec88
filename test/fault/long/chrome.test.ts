// Chrome loses one of its processes: what ran there is rendered elsewhere or fails clearly, others notice nothing, and nothing of it is left.
import { expect } from 'chai';
import { killQuietly as kill } from '../../../worker/chrome.ts';
import { eventually } from '../../support/eventually.ts';
import { type Site, type SiteAccount, startSite } from '../harness/site.ts';
import { type StruckWorker, strikeable } from '../harness/struck-worker.ts';
import { BUSY_FIRST, browserOf, busiestRenderer, ofKind } from '../harness/worker-look.ts';

describe('a Chrome of which a process is killed', function () {
  this.timeout(120_000);
  let site: Site;
  let crowd: SiteAccount;
  let story: StruckWorker;

  before(async () => {
    site = await startSite({ apis: 1, worker: { PRESSROOM_CHROME_PROBE_INTERVAL: '3s' } });
    crowd = await site.account();
  });
  after(() => site?.stop());
  afterEach(() => story.clear());

  const begin = async (options?: Parameters<typeof strikeable>[2]) => {
    story = await strikeable(site, crowd, options);
    return story.page.worker;
  };

  it('is replaced when its browser is killed, and its renders are tried elsewhere', async () => {
    const worker = await begin();
    kill(browserOf(worker));
    await story.renderedElsewhere();
    await story.chromeDied('exited');
    await story.end();
  });

  it('is replaced when it can start no renderer any more, and its renders are tried elsewhere', async () => {
    const worker = await begin();
    const answered = story.load.answered();
    // The browser process says nothing of it and answers as before. One of those that Chrome calls zygotes starts the renderers.
    for (const { pid } of ofKind(worker, 'zygote')) kill(pid);
    await story.renderedElsewhere();
    expect(story.load.answered()).to.be.greaterThan(answered);
    await story.chromeDied('unusable', 'exited'); // now and then the browser notices and ends by itself
    await story.end();
  });

  it('is replaced when its network process is killed: open pages would go on without their images', async () => {
    site.witness.release(crowd.id); // its pages are finished as soon as they have reached the witness
    const worker = await begin({ small: site.witness.page(crowd.id, 'needs the network') });
    kill(ofKind(worker, 'utility')[0]!.pid);
    await story.renderedElsewhere();
    await story.chromeDied('unusable');
    await story.end();
  });

  it('goes on when the renderer of one page is killed, which ends that page', async () => {
    const worker = await begin({ first: BUSY_FIRST });
    kill(busiestRenderer(worker));
    expect(await story.refused('page_crash')).to.match(/^The page crashed its browser process\./);
    await story.end();
  });

  it('says that a page crashed, too, when its renderer is killed while it prints', async () => {
    const call = `http://127.0.0.1:${site.witness.port}/?account=prints&render=prints`;
    const rows = '<tr><td>one</td><td>two</td></tr>'.repeat(8_000);
    const first = `<table>${rows}</table><script>addEventListener('beforeprint', () => { fetch('${call}'); });</script>`;
    const worker = await begin({ first });
    const renderer = busiestRenderer(worker);
    site.witness.release(story.page.account.id);
    await site.witness.until('prints', 1);
    kill(renderer);
    await story.refused('page_crash');
    await story.end();
  });

  it('gives nobody a page whose renderer was killed while it waited', async () => {
    const worker = await begin({ first: BUSY_FIRST });
    await story.load.stop();
    await eventually(async () => expect((await worker.process.metrics()).sum('pressroom_slots', { state: 'ready' })).to.equal(1));
    const crashes = () =>
      worker.process.log.filter(({ err }) => (err as Error | undefined)?.message === 'the page of a waiting slot crashed').length;
    const before = crashes();
    const own = busiestRenderer(worker);
    for (const { pid } of ofKind(worker, 'renderer')) if (pid !== own) kill(pid);
    await eventually(() => expect(crashes()).to.equal(before + 1));
    await story.loadAgain();
    await story.load.until(20);
    await story.goesOn();
    await story.end();
  });

  it('goes on when its GPU process is killed, and so does the page', async () => {
    const worker = await begin();
    const [before] = ofKind(worker, 'gpu-process');
    kill(before!.pid);
    await eventually(() =>
      expect(ofKind(worker, 'gpu-process').map(({ pid }) => pid))
        .to.have.length(1)
        .and.not.include(before!.pid),
    );
    const answered = story.load.answered();
    await story.load.until(answered + 10);
    await story.goesOn();
    await story.end();
  });
});
