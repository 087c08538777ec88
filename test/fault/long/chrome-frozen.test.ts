// A process of Chrome is frozen: the worker detects it, the render is retried elsewhere or ends at
// its time limit, all others continue, and nothing remains.
import { expect } from 'chai';
import { killQuietly as kill } from '../../../worker/browser/chrome.ts';
import { freeze } from '../../support/freeze.ts';
import { LOGS_SLOTS } from '../harness/held-page.ts';
import { type Site, type SiteAccount, startSite } from '../harness/site.ts';
import { type StruckWorker, strikeable } from '../harness/struck-worker.ts';
import { BUSY_FIRST, busiestRenderer, ofKind } from '../harness/worker-look.ts';

describe('a Chrome with a frozen process', function () {
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

  it('is replaced when its browser process is frozen, and its render is retried elsewhere', async () => {
    const { browser, slot } = await begin();
    await freeze(browser);
    await story.renderedElsewhere();
    await story.chromeDied(slot, 'hung');
    await story.end();
  });

  it('is replaced when its network process is frozen, and its render is retried elsewhere', async () => {
    const { browser, slot } = await begin();
    await freeze(ofKind(browser, 'utility')[0]!.pid);
    await story.renderedElsewhere();
    await story.chromeDied(slot, 'hung');
    await story.end();
  });

  it('is replaced when its browser process is frozen without a render', async () => {
    await begin();
    const { browser, slot } = story.neighbour;
    // A claim in the meantime would be retried elsewhere.
    await story.load.stop();
    await freeze(browser);
    await story.chromeDied(slot, 'hung');
    await story.loadAgain();
    await story.load.until(10);
    await story.goesOn();
    await story.end();
  });

  it('leaves nothing when its browser process is killed beside the frozen one', async () => {
    const { browser, slot } = await begin();
    await freeze(ofKind(browser, 'gpu-process')[0]!.pid);
    kill(browser);
    await story.renderedElsewhere();
    await story.chromeDied(slot, 'exited');
    await story.end();
  });

  it('is replaced when the renderer of its page is frozen, and the render ends at its time limit', async () => {
    const api = await site.addApi({ PRESSROOM_RENDER_TIMEOUT: '10s' });
    const { browser } = await begin({ first: BUSY_FIRST, api });
    await freeze(busiestRenderer(browser));
    expect(await story.refused('page_timeout')).to.match(/^The render took longer than 10 s/);
    await story.chromeReplaced();
    await story.end();
  });
});
