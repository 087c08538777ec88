// A process of Chrome stands still: it is noticed, the render in its slot is tried elsewhere or
// ends at its limit, all others go on, and nothing is left.
import { expect } from 'chai';
import { killQuietly as kill } from '../../../worker/browser/chrome.ts';
import { freeze } from '../../support/freeze.ts';
import { LOGS_SLOTS } from '../harness/held-page.ts';
import { type Site, type SiteAccount, startSite } from '../harness/site.ts';
import { type StruckWorker, strikeable } from '../harness/struck-worker.ts';
import { BUSY_FIRST, busiestRenderer, ofKind } from '../harness/worker-look.ts';

describe('a Chrome of which a process is frozen', function () {
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

  it('is killed and replaced when that is its browser, and its render is tried elsewhere', async () => {
    const { browser, slot } = await begin();
    await freeze(browser);
    await story.renderedElsewhere();
    await story.chromeDied(slot, 'hung');
    await story.end();
  });

  it('is killed and replaced when that is its network process, and its render is tried elsewhere', async () => {
    const { browser, slot } = await begin();
    await freeze(ofKind(browser, 'utility')[0]!.pid);
    await story.renderedElsewhere();
    await story.chromeDied(slot, 'hung');
    await story.end();
  });

  it('is killed and replaced when that is its browser and no page renders in it', async () => {
    await begin();
    const { browser, slot } = story.neighbour;
    // A claim meanwhile would be tried elsewhere.
    await story.load.stop();
    await freeze(browser);
    await story.chromeDied(slot, 'hung');
    await story.loadAgain();
    await story.load.until(10);
    await story.goesOn();
    await story.end();
  });

  it('leaves nothing when its browser dies beside the frozen process', async () => {
    const { browser, slot } = await begin();
    await freeze(ofKind(browser, 'gpu-process')[0]!.pid);
    kill(browser);
    await story.renderedElsewhere();
    await story.chromeDied(slot, 'exited');
    await story.end();
  });

  it('is replaced when that is the renderer of its page, whose render ends at its own limit', async () => {
    const api = await site.addApi({ PRESSROOM_RENDER_TIMEOUT: '10s' });
    const { browser } = await begin({ first: BUSY_FIRST, api });
    await freeze(busiestRenderer(browser));
    expect(await story.refused('page_timeout')).to.match(/^The render took longer than 10 s/);
    await story.chromeReplaced();
    await story.end();
  });
});
