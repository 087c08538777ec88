// @proves concurrency_limit, leases
// The cap: across all API processes an account never runs more renders than its plan allows, even
// when processes crash, freeze or are disconnected.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import type { Answer, Call } from '../../support/http-call.ts';
import {
  type ApiReplica,
  type Deployment,
  type DeploymentAccount,
  startDeployment,
} from '../harness/deployment.ts';
import { quiet } from '../harness/quiet.ts';

const CAP = 4;

describe('the concurrency limit of a plan, on two API processes and two workers', function () {
  this.timeout(120_000);
  let deployment: Deployment;
  let account: DeploymentAccount;
  let one: ApiReplica;
  let two: ApiReplica;

  beforeEach(async () => {
    deployment = await startDeployment({ links: true, slots: 6 });
    account = await deployment.account('growth');
    [one, two] = deployment.apis as [ApiReplica, ApiReplica];
  });
  afterEach(() => deployment?.stop());

  const alive = () => deployment.probePages.alive(account.id);
  /** Renders that run until their probe page is released. */
  const hold = (count: number, name: string, api?: ApiReplica): Call[] =>
    Array.from({ length: count }, (_, index) => {
      const call = deployment.render(
        account,
        deployment.probePages.page(account.id, `${name} ${index}`),
        api,
      );
      call.catch(() => {});
      return call;
    });
  /** The status of each call, or `broken` when its connection broke. */
  const ends = (calls: Call[]) =>
    Promise.all(
      calls.map(call => call.then(({ status }) => status).catch(() => 'broken' as const)),
    );

  /** Starts two renders at each process, which reaches the limit. */
  async function fill() {
    const calls = { one: hold(2, 'at the first', one), two: hold(2, 'at the second', two) };
    await deployment.probePages.until(account.id, CAP);
    return calls;
  }

  /** Repeats calls until two are admitted. */
  async function refill(api: ApiReplica): Promise<Call[]> {
    const calls: Call[] = [];
    for (let admitted = 0; admitted < 2; ) {
      const name = `again ${calls.length}`;
      const [call] = hold(1, name, api) as [Call];
      calls.push(call);
      let answered = false;
      void ends([call]).then(() => {
        answered = true;
      });
      await eventually(() => expect(answered || isAlive(name)).to.equal(true));
      if (isAlive(name)) admitted++;
    }
    return calls;
  }
  const isAlive = (name: string) => deployment.probePages.calls(`${name} 0`) > 0;

  /** All admitted renders get their PDFs and are counted once, and nothing remains. */
  async function finish(...calls: Call[]) {
    expect(deployment.probePages.most(account.id)).to.equal(CAP);
    deployment.probePages.release(account.id);
    const done = await ends(calls);
    expect(done.filter(end => end === 200).length).to.equal(CAP);
    expect(await account.usage()).to.equal(CAP);
    await quiet(deployment);
  }

  it('admits 4 of 64 parallel calls and rejects the others with concurrency_limit', async () => {
    const calls = hold(64, 'render');
    await deployment.probePages.until(account.id, CAP);
    const rejected: Answer[] = [];
    for (const call of calls) void call.then(answer => rejected.push(answer));
    await eventually(() => expect(rejected.length).to.equal(64 - CAP));
    for (const answer of rejected) {
      expect(answer.status).to.equal(429);
      expect(answer.error().code).to.equal('concurrency_limit');
      expect(answer.headers['x-concurrency-limit']).to.equal(String(CAP));
      expect(Number(answer.headers['retry-after'])).to.be.within(1, 60);
    }
    expect(alive()).to.equal(CAP);
    await finish(...calls);
  });

  it('frees the leases of a killed API process within 20 s', async () => {
    const calls = await fill();
    await one.process.kill();
    const killedMs = performance.now();
    // Its pages end with its sockets. No other render is admitted before its leases expire.
    await deployment.probePages.until(account.id, CAP - 2);
    const more = await refill(two);
    expect(performance.now() - killedMs).to.be.lessThan(20_000);
    expect(await ends(calls.one)).to.deep.equal(['broken', 'broken']);
    await finish(...calls.two, ...more);
  });

  it('aborts the renders of an API process that was frozen for 30 s and lost its leases', async () => {
    const calls = await fill();
    await one.process.freeze();
    const thawed = sleep(30_000).then(() => one.process.thaw());
    await deployment.probePages.until(account.id, CAP - 2);
    const more = await refill(two);
    await thawed;
    // When it resumes, other renders hold its leases, and it detects that.
    expect(await ends(calls.one)).to.deep.equal([502, 502]);
    expect((await deployment.render(account, { html: 'x' }, one)).status).to.equal(429);
    await finish(...calls.two, ...more);
  });

  it('aborts the renders of an API process whose sockets are all silent', async () => {
    const calls = await fill();
    const cut = [...one.toWorkers, one.toMongod!];
    for (const link of cut) link.swallow();
    await deployment.probePages.until(account.id, CAP - 2);
    const more = await refill(two);
    expect(await ends(calls.one)).to.deep.equal([502, 502]);
    for (const link of cut) link.heal();
    await eventually(async () =>
      expect(await ends([deployment.render(account, { html: 'x' }, one)])).to.deep.equal([429]),
    );
    await finish(...calls.two, ...more);
  });

  it('keeps the lease of a disconnected client until the worker has certainly ended the render', async () => {
    const calls = await fill();
    for (const link of one.toWorkers) link.swallow();
    for (const call of calls.one) call.disconnect();
    const more = await refill(two);
    expect(await ends(calls.one)).to.deep.equal(['broken', 'broken']);
    for (const link of one.toWorkers) link.heal();
    await finish(...calls.two, ...more);
  });

  it('retries the renders of a silent worker elsewhere, once their pages have certainly ended', async () => {
    const calls = await fill();
    for (const link of one.toWorkers.slice(0, 1)) link.swallow();
    const [first] = deployment.workers;
    // Renders of the silent worker run again on the other one; none is rejected or runs twice.
    await first!.process.logLine('closed the connection of an API that did not respond');
    await deployment.probePages.until(account.id, CAP);
    for (const link of one.toWorkers) link.heal();
    await finish(...calls.one, ...calls.two);
  });
});
