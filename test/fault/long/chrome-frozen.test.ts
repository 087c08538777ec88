// A process of Chrome stands still: it is noticed, what ran there is rendered elsewhere or ends at its limit, others notice nothing, and nothing of it is left.
import { expect } from 'chai';
import { killQuietly as kill } from '../../../worker/chrome.ts';
import { eventually } from '../../support/eventually.ts';
import { freeze } from '../../support/freeze.ts';
import { type Site, type SiteAccount, startSite } from '../harness/site.ts';
import { type StruckWorker, strikeable } from '../harness/struck-worker.ts';
import { BUSY_FIRST, browserOf, busiestRenderer, ofKind } from '../harness/worker-look.ts';

describe('a Chrome of which a process is frozen', function () {
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

  it('is killed and replaced when that is its browser', async () => {
    const worker = await begin();
    await freeze(browserOf(worker));
    await story.renderedElsewhere();
    await story.chromeDied('hung');
    await story.end();
  });

  it('is killed and replaced when that is its network process', async () => {
    const worker = await begin();
    await freeze(ofKind(worker, 'utility')[0]!.pid);
    await story.renderedElsewhere();
    await story.chromeDied('hung');
    await story.end();
  });

  it('leaves nothing when its browser dies beside the frozen process', async () => {
    const worker = await begin();
    await freeze(ofKind(worker, 'gpu-process')[0]!.pid);
    kill(browserOf(worker));
    await story.renderedElsewhere();
    await story.chromeDied('exited');
    await story.end();
  });

  it('goes on when that is one renderer, whose render ends at its own limit', async () => {
    const api = await site.addApi({ PRESSROOM_RENDER_TIMEOUT: '10s' });
    const worker = await begin({ first: BUSY_FIRST, api });
    const renderer = busiestRenderer(worker);
    await freeze(renderer);
    expect(await story.refused('page_timeout')).to.match(/^The render took longer than 10 s/);
    await eventually(() => expect(ofKind(worker, 'renderer').map(({ pid }) => pid)).to.not.include(renderer));
    await story.end();
  });
});
