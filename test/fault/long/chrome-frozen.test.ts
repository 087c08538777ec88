// A process of Chrome is frozen: the worker detects it, the render is retried elsewhere or ends at
// its time limit, all others continue, and nothing remains.
import { expect } from 'chai';
import { killQuietly as kill } from '../../../worker/browser/chrome.ts';
import { freeze } from '../../support/freeze.ts';
import { type ChromeScenario, startChromeScenario } from '../harness/chrome-scenario.ts';
import { type Deployment, type DeploymentAccount, startDeployment } from '../harness/deployment.ts';
import { LOGS_SLOTS } from '../harness/held-page.ts';
import { BUSY_FIRST, busiestRenderer, ofKind } from '../harness/worker-look.ts';

describe('a Chrome with a frozen process', function () {
  this.timeout(120_000);
  let deployment: Deployment;
  let background: DeploymentAccount;
  let scenario: ChromeScenario;

  before(async () => {
    deployment = await startDeployment({
      apis: 1,
      worker: { ...LOGS_SLOTS, PRESSROOM_CHROME_PROBE_INTERVAL: '3s' },
    });
    background = await deployment.account();
  });
  after(() => deployment?.stop());
  afterEach(() => scenario.clear());

  const begin = async (options?: Parameters<typeof startChromeScenario>[2]) => {
    scenario = await startChromeScenario(deployment, background, options);
    return scenario.page;
  };

  it('is replaced when its browser process is frozen, and its render is retried elsewhere', async () => {
    const { browser, slot } = await begin();
    await freeze(browser);
    await scenario.isRetriedElsewhere();
    await scenario.chromeDied(slot, 'hung');
    await scenario.end();
  });

  it('is replaced when its network process is frozen, and its render is retried elsewhere', async () => {
    const { browser, slot } = await begin();
    await freeze(ofKind(browser, 'utility')[0]!.pid);
    await scenario.isRetriedElsewhere();
    await scenario.chromeDied(slot, 'hung');
    await scenario.end();
  });

  it('is replaced when its browser process is frozen without a render', async () => {
    await begin();
    const { browser, slot } = scenario.neighbour;
    // A slot opened in the meantime would be retried elsewhere.
    await scenario.load.stop();
    await freeze(browser);
    await scenario.chromeDied(slot, 'hung');
    await scenario.restartLoad();
    await scenario.load.until(10);
    await scenario.finishesInPlace();
    await scenario.end();
  });

  it('leaves nothing when its browser process is killed beside the frozen one', async () => {
    const { browser, slot } = await begin();
    await freeze(ofKind(browser, 'gpu-process')[0]!.pid);
    kill(browser);
    await scenario.isRetriedElsewhere();
    await scenario.chromeDied(slot, 'exited');
    await scenario.end();
  });

  it('is replaced when the renderer of its page is frozen, and the render ends at its time limit', async () => {
    const api = await deployment.addApi({ PRESSROOM_RENDER_TIMEOUT: '10s' });
    const { browser } = await begin({ first: BUSY_FIRST, api });
    await freeze(busiestRenderer(browser));
    expect(await scenario.failsWith('page_timeout')).to.match(
      /^The render took longer than this installation's limit of 10 s/,
    );
    await scenario.chromeReplaced();
    await scenario.end();
  });
});
