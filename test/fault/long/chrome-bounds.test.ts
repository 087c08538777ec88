// A page that exceeds the memory or message bound of its Chrome ends alone: its Chrome is replaced,
// and all others continue.
import { expect } from 'chai';
import { type ChromeScenario, startChromeScenario } from '../harness/chrome-scenario.ts';
import { type Deployment, type DeploymentAccount, startDeployment } from '../harness/deployment.ts';
import { LOGS_SLOTS } from '../harness/held-page.ts';

describe('a Chrome whose page exceeds a bound', function () {
  this.timeout(120_000);
  let deployment: Deployment;
  let background: DeploymentAccount;
  let scenario: ChromeScenario;
  let strikes = 0;

  const start = async (env: Record<string, string>) => {
    deployment = await startDeployment({
      apis: 1,
      worker: { ...LOGS_SLOTS, PRESSROOM_CHROME_PROBE_INTERVAL: '3s', ...env },
    });
    background = await deployment.account();
  };
  afterEach(() => scenario.clear());

  /** A page that runs this script when `strike` is called. */
  async function begin(script: string) {
    const call = `strike ${++strikes}`;
    const url = `http://127.0.0.1:${deployment.probePages.port}/?${new URLSearchParams({ account: call, render: call })}`;
    const first = `<script>fetch('${url}').then(answer => answer.text()).then(() => { ${script} });</script>`;
    scenario = await startChromeScenario(deployment, background, { first });
    return { slot: scenario.page.slot, strike: () => deployment.probePages.release(call) };
  }

  describe('of memory', () => {
    before(() => start({ PRESSROOM_RENDER_MEMORY: '160MiB' }));
    after(() => deployment?.stop());

    const leaks = [
      {
        where: 'outside of JavaScript',
        script: 'setInterval(() => kept.push(new Uint8Array(4 << 20).fill(kept.length)), 1);',
      },
      {
        where: 'in the browser process',
        script:
          'setInterval(() => kept.push(new Blob([new Uint8Array(4 << 20).fill(kept.length)])), 1);',
      },
    ];
    for (const { where, script } of leaks)
      it(`is killed when the page grows ${where}, as a failure of the page`, async () => {
        const { slot, strike } = await begin(`window.kept = []; ${script}`);
        strike();
        expect(await scenario.failsWith('page_crash')).to.match(
          /^The page used more memory than a render may use\./,
        );
        await scenario.chromeDied(slot, 'memory');
        await scenario.end();
      });

    it("is replaced when the page's JavaScript heap grows, unless the heap limit ends it first", async () => {
      const { strike } = await begin(
        'window.kept = []; for (;;) kept.push(new Array(100_000).fill(Math.random()).map(String));',
      );
      strike();
      expect(await scenario.failsWith('page_crash')).to.match(/memory/);
      await scenario.chromeReplaced('memory');
      await scenario.end();
    });
  });

  describe('of messages', () => {
    before(() => start({}));
    after(() => deployment?.stop());

    it('is killed when the page keeps it too busy to respond, as a failure of the page', async () => {
      const { slot, strike } = await begin('for (;;) console.log(1);');
      strike();
      await scenario.failsWith('output_limit');
      await scenario.chromeDied(slot, 'flooded');
      await scenario.end();
    });
  });
});
