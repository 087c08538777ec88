// Chrome loses one of its processes: the render in its slot is rendered elsewhere or fails clearly,
// the Chromes of all other slots go on, and nothing is left.
import { expect } from 'chai';
import { killQuietly as kill } from '../../../worker/browser/chrome.ts';
import { eventually } from '../../support/eventually.ts';
import { LOGS_SLOTS } from '../harness/held-page.ts';
import { type Site, type SiteAccount, startSite } from '../harness/site.ts';
import { type StruckWorker, strikeable } from '../harness/struck-worker.ts';
import { BUSY_FIRST, busiestRenderer, ofKind } from '../harness/worker-look.ts';

describe('a Chrome of which a process is killed', function () {
  this.timeout(120_000);
  let site: Site;
  let crowd: SiteAccount;
  let story: StruckWorker;

  before(async () => {
    site = await startSite({
      apis: 1,
      worker: { ...LOGS_SLOTS, PRESSROOM_CHROME_PROBE_INTERVAL: '3s' },
    });
    crowd = await site.account();
  });
  after(() => site?.stop());
  afterEach(() => story.clear());

  const begin = async (options?: Parameters<typeof strikeable>[2]) => {
    story = await strikeable(site, crowd, options);
    return story.page;
  };

  /** The page's neighbour waits for a render. */
  const untilWaiting = (slot: number) =>
    eventually(() => {
      const states = story.page.worker.process.log.filter(
        line => line.msg === 'slot state' && line['slot'] === slot,
      );
      expect(states.at(-1)).to.include({ to: 'ready' });
    });

  it('is replaced when its browser is killed, and its render is tried elsewhere', async () => {
    const { browser, slot } = await begin();
    kill(browser);
    await story.renderedElsewhere();
    await story.chromeDied(slot, 'exited');
    await story.end();
  });

  it('is replaced when it can start no renderer any more, and its render is tried elsewhere', async () => {
    const { browser, slot } = await begin();
    // The browser process answers as before. One of those that Chrome calls zygotes starts the
    // renderers, and they end with it.
    for (const { pid } of ofKind(browser, 'zygote')) kill(pid);
    await story.renderedElsewhere();
    // now and then the browser notices and ends by itself
    await story.chromeDied(slot, 'unusable', 'exited');
    await story.end();
  });

  it('is replaced when its network process is killed: an open page would go on without its images', async () => {
    const { browser, slot } = await begin();
    kill(ofKind(browser, 'utility')[0]!.pid);
    await story.renderedElsewhere();
    await story.chromeDied(slot, 'unusable');
    await story.end();
  });

  it('renders no page without a network when its network process is killed while it waits', async () => {
    // its pages are finished as soon as they have reached the witness
    site.witness.release(crowd.id);
    await begin({ small: site.witness.page(crowd.id, 'needs the network') });
    const { slot, browser } = story.neighbour;
    await story.load.stop();
    await untilWaiting(slot);
    kill(ofKind(browser, 'utility')[0]!.pid);
    await story.loadAgain();
    await story.load.until(10);
    await story.chromeDied(slot, 'unusable');
    await story.goesOn();
    await story.end();
  });

  it('is replaced when the renderer of its page is killed, which ends that page', async () => {
    const { browser } = await begin({ first: BUSY_FIRST });
    kill(busiestRenderer(browser));
    expect(await story.refused('page_crash')).to.match(/^The page crashed its browser process\./);
    await story.chromeReplaced();
    await story.end();
  });

  it('reports a crash of the page, too, when its renderer is killed while it prints', async () => {
    const call = `http://127.0.0.1:${site.witness.port}/?account=prints&render=prints`;
    const rows = '<tr><td>one</td><td>two</td></tr>'.repeat(8_000);
    const first = `<table>${rows}</table><script>addEventListener('beforeprint', () => { fetch('${call}'); });</script>`;
    const { browser, account } = await begin({ first });
    const renderer = busiestRenderer(browser);
    site.witness.release(account.id);
    await site.witness.until('prints', 1);
    kill(renderer);
    await story.refused('page_crash');
    await story.chromeReplaced();
    await story.end();
  });

  it('serves no page whose renderer was killed while it waited', async () => {
    await begin();
    const { slot, browser } = story.neighbour;
    await story.load.stop();
    await untilWaiting(slot);
    for (const { pid } of ofKind(browser, 'renderer')) kill(pid);
    await story.chromeDied(slot, 'unusable');
    await story.loadAgain();
    await story.load.until(20);
    await story.goesOn();
    await story.end();
  });

  it('goes on when its GPU process is killed, and so does the page', async () => {
    const { browser } = await begin();
    const [before] = ofKind(browser, 'gpu-process');
    kill(before!.pid);
    await eventually(() =>
      expect(ofKind(browser, 'gpu-process').map(({ pid }) => pid))
        .to.have.length(1)
        .and.not.include(before!.pid),
    );
    await story.goesOn();
    const answered = story.load.answered();
    await story.load.until(answered + 10);
    await story.end();
  });
});
