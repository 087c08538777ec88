// Drain: API processes and workers are replaced under load, one by one or all at once, without a
// failed render.
import { Agent } from 'node:http';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { renderCall } from '../../support/http-call.ts';
import {
  type Deployment,
  type DeploymentAccount,
  type DeploymentOptions,
  type Replica,
  startDeployment,
} from '../harness/deployment.ts';
import { type Front, startFront } from '../harness/front.ts';
import { failuresOf, type Load, startLoad } from '../harness/load.ts';
import { quiet } from '../harness/quiet.ts';

const CALLERS = 6;
/** The longest delay of the test's load balancer in detecting an unready process. */
const NOTICED = { PRESSROOM_DRAIN_DELAY: '1s' };
const SLOW_MS = 60_000;

describe('drain, under load', function () {
  this.timeout(900_000);
  let deployment: Deployment;
  let front: Front;
  let account: DeploymentAccount;
  let agent: Agent;
  let running: Load;

  async function start(options: DeploymentOptions = {}, passes?: 'connections') {
    deployment = await startDeployment({ ...options, api: { ...NOTICED, ...options.api } });
    account = await deployment.account();
    front = await startFront(deployment.apis, passes);
    await twoReady();
  }
  beforeEach(() => {
    agent = new Agent({ keepAlive: true });
  });
  afterEach(async () => {
    await running?.stop();
    agent.destroy();
    await front?.close();
    await deployment?.stop();
  });

  const twoReady = () => eventually(() => expect(front.ready()).to.be.at.least(2), SLOW_MS);
  const load = (over?: Agent) => {
    running = startLoad(CALLERS, () =>
      renderCall(front.port, account.key, { html: '<p>x</p>' }, {}, over),
    );
  };

  async function replace(replica: Replica): Promise<void> {
    expect(await replica.process.kill('SIGTERM'), `exit code of ${replica.process.name}`).to.equal(
      0,
    );
    await replica.start();
  }

  async function takeTurns(replicas: readonly Replica[], times: number): Promise<void> {
    for (let time = 0; time < times; time++)
      for (const replica of replicas) {
        await replace(replica);
        await twoReady();
      }
  }

  /** Every call returned a PDF, and each is counted once. */
  async function allWell(): Promise<void> {
    const answers = await running.stop();
    expect(failuresOf(answers)).to.deep.equal([]);
    await eventually(async () => expect(await account.usage()).to.equal(answers.length));
    await quiet(deployment);
  }

  it('loses none of 2,000 renders while each of two API processes is replaced ten times', async () => {
    await start();
    load();
    await takeTurns(deployment.apis, 10);
    await running.until(2_000);
    expect(front.reused()).to.be.greaterThan(1_000);
    await allWell();
  });

  it('loses no render on kept connections to an API process that is replaced', async () => {
    await start({}, 'connections');
    load(agent);
    await takeTurns(deployment.apis, 3);
    await allWell();
  });

  it('loses none of 1,000 renders while each of two workers is replaced ten times', async () => {
    await start();
    load();
    await takeTurns(deployment.workers, 10);
    await running.until(1_000);
    await allWell();
    const metrics = await Promise.all(deployment.apis.map(({ process }) => process.metrics()));
    const sum = (name: string, labels = {}) =>
      metrics.reduce((total, each) => total + each.sum(name, labels), 0);
    expect(sum('pressroom_renders_total', { outcome: 'ok' })).to.equal(running.answered());
    expect(sum('pressroom_render_retries_total')).to.equal(0);
  });

  it('loses no render when all processes are stopped at once and replaced', async () => {
    await start();
    load();
    await running.until(100);
    const before = [...deployment.apis];
    // As in a rolling update, the new API processes start first. The workers keep their addresses,
    // so for some time there is none.
    await deployment.addApi();
    await deployment.addApi();
    await eventually(() => expect(front.ready()).to.equal(4), SLOW_MS);
    await Promise.all([
      ...before.map(async ({ process }) =>
        expect(await process.kill('SIGTERM'), process.name).to.equal(0),
      ),
      ...deployment.workers.map(replace),
    ]);
    const then = running.answered();
    await running.until(then + 100);
    await allWell();
  });
});
