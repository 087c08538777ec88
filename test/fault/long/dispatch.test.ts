// Dispatch: no render is lost when a worker dies, freezes or is disconnected; a draining worker
// finishes its renders.
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import type { Answer } from '../../support/http-call.ts';
import { chromeProcesses, stillAlive } from '../harness/chrome-processes.ts';
import {
  type Deployment,
  type DeploymentOptions,
  type Replica,
  startDeployment,
} from '../harness/deployment.ts';
import { holdPage, LOGS_SLOTS } from '../harness/held-page.ts';
import { failuresOf, type Load, startLoad } from '../harness/load.ts';
import { quiet } from '../harness/quiet.ts';
import { ofKind } from '../harness/worker-look.ts';

describe('dispatch, when a worker is lost', function () {
  this.timeout(240_000);
  let deployment: Deployment;
  let small: Load | undefined;

  const start = async (options: DeploymentOptions) => {
    deployment = await startDeployment({ apis: 1, worker: LOGS_SLOTS, ...options });
  };
  afterEach(async () => {
    await small?.stop();
    await deployment?.stop();
  });

  const claimed = async (worker: Replica) =>
    (await worker.process.metrics()).sum('pressroom_slots', { state: 'claimed' });
  const outcomes = async () =>
    (await deployment.apis[0]!.process.metrics()).by('pressroom_renders_total', 'outcome');
  const retries = async () =>
    (await deployment.apis[0]!.process.metrics()).sum('pressroom_render_retries_total');

  /** Fails when the call gets its response before that event, which may then never occur. */
  const meanwhile = (call: Promise<Answer>, moment: Promise<void>) => {
    const early = call.then(({ status, body }) => {
      throw new Error(`the call was answered early: ${status} ${status === 200 ? '' : body}`);
    });
    early.catch(() => {});
    return Promise.race([moment, early]);
  };

  const faults: {
    what: string;
    strike(index: number, browser: number): unknown;
    recover(index: number): unknown;
  }[] = [
    {
      what: 'its worker is killed',
      strike: index => deployment.workers[index]!.process.kill(),
      recover: index => deployment.workers[index]!.start(),
    },
    {
      what: 'its worker is silently cut off',
      strike: index => deployment.apis[0]!.toWorkers[index]!.swallow(),
      recover: index => deployment.apis[0]!.toWorkers[index]!.heal(),
    },
    {
      what: 'its worker is heard no more',
      strike: index => deployment.apis[0]!.toWorkers[index]!.swallow('down'),
      recover: index => deployment.apis[0]!.toWorkers[index]!.heal(),
    },
    {
      what: 'the Chrome of its slot is killed',
      strike: (_index, browser) => process.kill(browser, 'SIGKILL'),
      recover: () => {},
    },
  ];
  for (const { what, strike, recover } of faults) {
    it(`retries a render on another worker when ${what}, after the first page has ended`, async () => {
      await start({ links: true });
      // The account may run one render at a time.
      const { answer: call, account, name, worker, browser } = await holdPage(deployment);
      const index = deployment.workers.indexOf(worker);
      const chromes = chromeProcesses(worker.process.pid);
      await strike(index, browser);
      await meanwhile(call, deployment.probePages.until(account.id, 0));
      await meanwhile(call, deployment.probePages.until(account.id, 1));
      expect(deployment.probePages.calls(name)).to.equal(2);
      deployment.probePages.release(account.id);
      expect((await call).status).to.equal(200);
      expect(deployment.probePages.most(account.id)).to.equal(1);
      expect(await account.usage()).to.equal(1);
      expect(await retries()).to.equal(1);
      expect(await outcomes()).to.include({ ok: 1 });
      if (!worker.process.alive())
        await eventually(() => expect(stillAlive(chromes)).to.deep.equal([]));
      await recover(index);
      await quiet(deployment);
    });
  }

  for (const [links, status, usage] of [
    [1, 200, 1],
    [2, 502, 0],
  ] as const) {
    it(`responds ${status} when the connections to ${links} of two workers break during the PDF`, async () => {
      await start({ links: true });
      const account = await deployment.account('free');
      let broken = 0;
      const matches = (frame: Buffer) => {
        if (broken === links || !frame.includes('"base64Encoded":true')) return false;
        broken++;
        return true;
      };
      for (const link of deployment.apis[0]!.toWorkers)
        link.onFrame({ direction: 'down', matches, do: 'cut', times: 1 });
      const answer = await deployment.render(account, { html: '<p>x</p>' });
      expect(answer.status).to.equal(status);
      if (status === 502) expect(answer.error().reason).to.equal('worker_lost');
      expect(broken).to.equal(links);
      expect(await account.usage()).to.equal(usage);
      expect(await retries()).to.equal(1);
      await quiet(deployment);
    });
  }

  it('retries a render on another worker when its worker is frozen', async () => {
    await start({});
    const { answer: call, account, name, worker } = await holdPage(deployment);
    await worker.process.freeze();
    // The frozen worker holds the connections of the first page open.
    await meanwhile(call, deployment.probePages.until(account.id, 2));
    deployment.probePages.release(account.id);
    expect((await call).status).to.equal(200);
    expect(await account.usage()).to.equal(1);
    expect(await retries()).to.equal(1);
    worker.process.thaw();
    await quiet(deployment);
    expect(deployment.probePages.calls(name)).to.equal(2);
  });

  it('lets a draining worker finish its renders, sends it no new ones, and nothing of it remains', async () => {
    await start({});
    const { answer: call, account, name, worker, browser, others } = await holdPage(deployment);
    const crowd = await deployment.account();
    const chromes = chromeProcesses(worker.process.pid);
    const exited = worker.process.kill('SIGTERM');
    await eventually(async () => expect(await worker.process.probe('/readyz')).to.equal(503));
    small = startLoad(3, () => deployment.render(crowd, { html: '<p>x</p>' }));
    await small.until(20);
    const slots = (await worker.process.metrics()).by('pressroom_slots', 'state');
    expect(slots).to.include({ claimed: 1, ready: 0, stopped: 1 });
    // The idle Chrome is not kept.
    expect(ofKind(worker, 'browser').map(({ pid }) => pid)).to.deep.equal([browser]);
    expect(failuresOf(await small.stop())).to.deep.equal([]);
    expect(await claimed(worker)).to.equal(1);
    deployment.probePages.release(account.id);
    expect((await call).status).to.equal(200);
    expect(deployment.probePages.calls(name)).to.equal(1);
    expect(await exited).to.equal(0);
    expect(stillAlive(chromes)).to.deep.equal([]);
    expect(await retries()).to.equal(0);
    expect(others[0]!.process.alive()).to.equal(true);
    await quiet(deployment);
  });
});
