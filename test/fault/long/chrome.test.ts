// A process of Chrome is killed: the render in its slot is retried elsewhere or fails with an
// error, the Chromes of other slots continue, and nothing remains.
import { expect } from 'chai';
import { killQuietly as kill } from '../../../worker/browser/chrome.ts';
import { eventually } from '../../support/eventually.ts';
import { type ChromeScenario, startChromeScenario } from '../harness/chrome-scenario.ts';
import { type Deployment, type DeploymentAccount, startDeployment } from '../harness/deployment.ts';
import { LOGS_SLOTS } from '../harness/held-page.ts';
import { BUSY_FIRST, busiestRenderer, ofKind } from '../harness/worker-look.ts';

describe('a Chrome with a killed process', function () {
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

  /** Resolves when this slot is ready. */
  const untilWaiting = (slot: number) =>
    eventually(() => {
      const states = scenario.page.worker.process.log.filter(
        line => line.msg === 'slot state' && line['slot'] === slot,
      );
      expect(states.at(-1)).to.include({ to: 'ready' });
    });

  it('is replaced when its browser process is killed, and its render is retried elsewhere', async () => {
    const { browser, slot } = await begin();
    kill(browser);
    await scenario.isRetriedElsewhere();
    await scenario.chromeDied(slot, 'exited');
    await scenario.end();
  });

  it('is replaced when it cannot start renderers any more, and its render is retried elsewhere', async () => {
    const { browser, slot } = await begin();
    // The browser process still responds. A zygote starts the renderers, which end with it.
    for (const { pid } of ofKind(browser, 'zygote')) kill(pid);
    await scenario.isRetriedElsewhere();
    // Sometimes the browser process detects it and exits.
    await scenario.chromeDied(slot, 'unusable', 'exited');
    await scenario.end();
  });

  it('is replaced when its network process is killed during a render', async () => {
    const { browser, slot } = await begin();
    kill(ofKind(browser, 'utility')[0]!.pid);
    await scenario.isRetriedElsewhere();
    await scenario.chromeDied(slot, 'unusable');
    await scenario.end();
  });

  it('renders no page without network when its network process is killed between renders', async () => {
    // Its pages end as soon as they have reached the probe server.
    deployment.probePages.release(background.id);
    await begin({ small: deployment.probePages.page(background.id, 'needs the network') });
    const { slot, browser } = scenario.neighbour;
    await scenario.load.stop();
    await untilWaiting(slot);
    kill(ofKind(browser, 'utility')[0]!.pid);
    await scenario.restartLoad();
    await scenario.load.until(10);
    await scenario.chromeDied(slot, 'unusable');
    await scenario.finishesInPlace();
    await scenario.end();
  });

  it('is replaced when the renderer of its page is killed, and the render fails', async () => {
    const { browser } = await begin({ first: BUSY_FIRST });
    kill(busiestRenderer(browser));
    expect(await scenario.failsWith('page_crash')).to.match(
      /^The page crashed its browser process\./,
    );
    await scenario.chromeReplaced();
    await scenario.end();
  });

  it('reports a crash when the renderer is killed during the print', async () => {
    const call = `http://127.0.0.1:${deployment.probePages.port}/?account=prints&render=prints`;
    const rows = '<tr><td>one</td><td>two</td></tr>'.repeat(8_000);
    const first = `<table>${rows}</table><script>addEventListener('beforeprint', () => { fetch('${call}'); });</script>`;
    const { browser, account } = await begin({ first });
    const renderer = busiestRenderer(browser);
    deployment.probePages.release(account.id);
    await deployment.probePages.until('prints', 1);
    kill(renderer);
    await scenario.failsWith('page_crash');
    await scenario.chromeReplaced();
    await scenario.end();
  });

  it('serves no page whose renderer was killed before its render', async () => {
    await begin();
    const { slot, browser } = scenario.neighbour;
    await scenario.load.stop();
    await untilWaiting(slot);
    for (const { pid } of ofKind(browser, 'renderer')) kill(pid);
    await scenario.chromeDied(slot, 'unusable');
    await scenario.restartLoad();
    await scenario.load.until(20);
    await scenario.finishesInPlace();
    await scenario.end();
  });

  it('continues with its page when its GPU process is killed', async () => {
    const { browser } = await begin();
    const [before] = ofKind(browser, 'gpu-process');
    kill(before!.pid);
    await eventually(() =>
      expect(ofKind(browser, 'gpu-process').map(({ pid }) => pid))
        .to.have.length(1)
        .and.not.include(before!.pid),
    );
    await scenario.finishesInPlace();
    const answered = scenario.load.answered();
    await scenario.load.until(answered + 10);
    await scenario.end();
  });
});
