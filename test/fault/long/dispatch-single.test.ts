// Dispatch to a single worker: a hanging page delays only itself, and a dead worker can be replaced
// in time.
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import {
  type Deployment,
  type DeploymentAccount,
  type DeploymentOptions,
  startDeployment,
} from '../harness/deployment.ts';
import { failuresOf, type Load, startLoad } from '../harness/load.ts';
import { quiet } from '../harness/quiet.ts';

describe('dispatch to a single worker', function () {
  this.timeout(240_000);
  let deployment: Deployment;
  let small: Load | undefined;

  const start = async (options: DeploymentOptions) => {
    deployment = await startDeployment({ apis: 1, workers: 1, ...options });
  };
  afterEach(async () => {
    await small?.stop();
    await deployment?.stop();
  });

  const claimed = async () =>
    (await deployment.workers[0]!.process.metrics()).sum('pressroom_slots', { state: 'claimed' });
  const metrics = () => deployment.apis[0]!.process.metrics();
  const outcomes = async () => (await metrics()).by('pressroom_renders_total', 'outcome');
  const retries = async () => (await metrics()).sum('pressroom_render_retries_total');

  it('continues other renders on the same worker while a page hangs', async () => {
    await start({ api: { PRESSROOM_RENDER_TIMEOUT: '5s' } });
    const account = await deployment.account();
    const hanging = deployment.render(account, { html: '<p>x</p><script>while (1);</script>' });
    await eventually(async () => expect(await claimed()).to.equal(1));
    small = startLoad(2, () => deployment.render(account, { html: '<p>x</p>' }));
    const answer = await hanging;
    expect(small.answered()).to.be.greaterThan(0);
    const answers = await small.stop();
    expect(failuresOf(answers)).to.deep.equal([]);
    expect(answer.status).to.equal(502);
    expect(answer.error().reason).to.equal('page_timeout');
    expect(await account.usage()).to.equal(answers.length);
    expect(await outcomes()).to.include({ ok: answers.length, page_timeout: 1 });
    await quiet(deployment);
  });

  const waiting = (count: number) =>
    eventually(async () => expect((await metrics()).sum('pressroom_queue_depth')).to.equal(count));

  /** Kills the only worker with two running and three queued renders. Returns their responses. */
  async function killTheLast(account: DeploymentAccount) {
    const pages = ['one', 'two'].map(name =>
      deployment.render(account, deployment.probePages.page(account.id, name)),
    );
    await deployment.probePages.until(account.id, 2);
    const others = ['three', 'four', 'five'].map(name =>
      deployment.render(account, { html: name }),
    );
    const answers = Promise.all(
      [...pages, ...others].map(call => call.catch((error: Error) => error)),
    );
    await waiting(3);
    await deployment.workers[0]!.process.kill();
    return { answers };
  }

  it('keeps running and queued renders when the last worker is killed, until another starts', async () => {
    await start({});
    const account = await deployment.account();
    const { answers } = await killTheLast(account);
    await waiting(5);
    deployment.probePages.release(account.id);
    await deployment.workers[0]!.start();
    expect(failuresOf(await answers)).to.deep.equal([]);
    expect(await account.usage()).to.equal(5);
    expect(await retries()).to.equal(2);
    await quiet(deployment);
  });

  it('rejects running and queued renders when no other worker starts in time', async () => {
    await start({ api: { PRESSROOM_QUEUE_TIMEOUT_NO_WORKER: '3s' } });
    const account = await deployment.account();
    const { answers } = await killTheLast(account);
    for (const answer of await answers) {
      if (answer instanceof Error) throw answer;
      expect(answer.status).to.equal(502);
      expect(answer.error()).to.include({ code: 'render_failed', reason: 'no_worker' });
      expect(answer.error().message).to.match(
        /^No worker was connected within \d+ s\. Try again later\.$/,
      );
      expect(Number(answer.headers['retry-after'])).to.be.within(1, 30);
    }
    expect(await account.usage()).to.equal(0);
    expect(await outcomes()).to.include({ no_worker: 5 });
    await quiet(deployment);
    await deployment.workers[0]!.start();
    expect((await deployment.render(account, { html: 'x' })).status).to.equal(200);
  });
});
