// Upgrades: API processes and workers of two releases work together if their protocols allow.
import { expect } from 'chai';
import { PROTOCOL } from '../../../common/protocol.ts';
import { eventually } from '../../support/eventually.ts';
import { type Deployment, type DeploymentAccount, startDeployment } from '../harness/deployment.ts';
import type { Rule } from '../harness/link.ts';
import { failuresOf, type Load, startLoad } from '../harness/load.ts';
import { quiet } from '../harness/quiet.ts';

describe('workers of another release', function () {
  this.timeout(300_000);
  let deployment: Deployment;
  let account: DeploymentAccount;
  let running: Load;
  beforeEach(async () => {
    deployment = await startDeployment({
      apis: 1,
      links: true,
      api: { PRESSROOM_QUEUE_TIMEOUT_NO_WORKER: '5s' },
    });
    account = await deployment.account();
  });
  afterEach(async () => {
    await running?.stop();
    await deployment?.stop();
  });

  const link = (worker: number) => deployment.apis[0]!.toWorkers[worker]!;
  const load = () => {
    running = startLoad(4, () => deployment.render(account, { html: '<p>x</p>' }));
  };

  /** Rewrites the protocol number in the worker's status reports from the next one on. */
  function speaks(worker: number, protocol: number): Rule {
    const own = `"protocol":${PROTOCOL},`;
    const other = `"protocol":${protocol},`;
    return link(worker).onFrame({
      direction: 'down',
      matches: frame => frame.includes(own),
      do: { rewrite: frame => Buffer.from(frame.toString().replace(own, other)) },
    });
  }

  /** Counts the PDFs requested from the worker. */
  const prints = (worker: number): Rule =>
    link(worker).onFrame({
      direction: 'up',
      matches: frame => frame.includes('"Page.printToPDF"'),
      do: { delayMs: 0 },
    });

  it('are used with the previous protocol, and replaced one by one without a lost render', async () => {
    const old = [speaks(0, PROTOCOL - 1), speaks(1, PROTOCOL - 1)];
    load();
    await running.until(20);
    for (const index of [0, 1]) {
      const [asked, other] = [prints(index), prints(1 - index)];
      await running.until(running.answered() + 50);
      // Workers of both protocols are used.
      expect(asked.hits()).to.be.greaterThan(0);
      expect(other.hits()).to.be.greaterThan(0);
      const worker = deployment.workers[index]!;
      expect(await worker.process.kill('SIGTERM')).to.equal(0);
      expect(old[index]!.hits()).to.be.greaterThan(0);
      old[index]!.remove();
      await worker.start();
      asked.remove();
      other.remove();
    }
    await running.until(running.answered() + 50);
    const answers = await running.stop();
    expect(failuresOf(answers)).to.deep.equal([]);
    expect(await account.usage()).to.equal(answers.length);
    expect(
      deployment.apis[0]!.process.log.filter(({ msg }) => msg === 'worker ignored'),
    ).to.deep.equal([]);
    await quiet(deployment);
  });

  it('are not used with a later protocol, and the reason is logged', async () => {
    load();
    await running.until(20);
    speaks(1, PROTOCOL + 1);
    const line = await deployment.apis[0]!.process.logLine('worker ignored');
    expect(line).to.include({
      worker: `ws://127.0.0.1:${link(1).port}`,
      problem: `it uses protocol ${PROTOCOL + 1}; supported are ${PROTOCOL - 1} and ${PROTOCOL}`,
    });
    // Its running renders finish.
    const claimed = async () =>
      (await deployment.workers[1]!.process.metrics()).sum('pressroom_slots', { state: 'claimed' });
    await eventually(async () => expect(await claimed()).to.equal(0));
    const [used, unused] = [prints(0), prints(1)];
    await running.until(running.answered() + 50);
    const answers = await running.stop();
    expect(failuresOf(answers)).to.deep.equal([]);
    expect(used.hits()).to.be.at.least(40);
    expect(unused.hits()).to.equal(0);
    expect((await deployment.apis[0]!.process.metrics()).sum('pressroom_workers_known')).to.equal(
      1,
    );
    await quiet(deployment);
  });
});
