// @proves concurrency_limit, leases
// The cap: over all API processes an account never has more renders running than its plan allows,
// whatever crashes, freezes or is cut off.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import type { Answer, Call } from '../../support/http-call.ts';
import { quiet } from '../harness/quiet.ts';
import { type ApiSeat, type Site, type SiteAccount, startSite } from '../harness/site.ts';

const CAP = 4;

describe('the cap of a plan, on two API processes and two workers', function () {
  this.timeout(120_000);
  let site: Site;
  let account: SiteAccount;
  let one: ApiSeat;
  let two: ApiSeat;

  beforeEach(async () => {
    site = await startSite({ links: true, slots: 6 });
    account = await site.account('growth');
    [one, two] = site.apis as [ApiSeat, ApiSeat];
  });
  afterEach(() => site?.stop());

  const alive = () => site.witness.alive(account.id);
  /** Renders that stay until the witness lets them go. */
  const hold = (count: number, name: string, api?: ApiSeat): Call[] =>
    Array.from({ length: count }, (_, index) => {
      const call = site.render(account, site.witness.page(account.id, `${name} ${index}`), api);
      call.catch(() => {});
      return call;
    });
  /** How calls ended: their statuses, or `broken` when the connection did. */
  const ends = (calls: Call[]) =>
    Promise.all(
      calls.map(call => call.then(({ status }) => status).catch(() => 'broken' as const)),
    );

  /** Two pages run at each process, and the plan is full. */
  async function fill() {
    const calls = { one: hold(2, 'at the first', one), two: hold(2, 'at the second', two) };
    await site.witness.until(account.id, CAP);
    return calls;
  }

  /** Calls again and again, as impatient customers do, until two have been let in. */
  async function refill(api: ApiSeat): Promise<Call[]> {
    const calls: Call[] = [];
    for (let letIn = 0; letIn < 2; ) {
      const name = `again ${calls.length}`;
      const [call] = hold(1, name, api) as [Call];
      calls.push(call);
      let answered = false;
      void ends([call]).then(() => {
        answered = true;
      });
      await eventually(() => expect(answered || isAlive(name)).to.equal(true));
      if (isAlive(name)) letIn++;
    }
    return calls;
  }
  const isAlive = (name: string) => site.witness.calls(`${name} 0`) > 0;

  /** All that were let in get their PDFs, each is counted, and nothing is left. */
  async function finish(...calls: Call[]) {
    expect(site.witness.most(account.id)).to.equal(CAP);
    site.witness.release(account.id);
    const done = await ends(calls);
    expect(done.filter(end => end === 200).length).to.equal(CAP);
    expect(await account.usage()).to.equal(CAP);
    await quiet(site);
  }

  it('lets 4 of 64 parallel calls run and tells the others so', async () => {
    const calls = hold(64, 'render');
    await site.witness.until(account.id, CAP);
    const refused: Answer[] = [];
    for (const call of calls) void call.then(answer => refused.push(answer));
    await eventually(() => expect(refused.length).to.equal(64 - CAP));
    for (const answer of refused) {
      expect(answer.status).to.equal(429);
      expect(answer.error().code).to.equal('concurrency_limit');
      expect(answer.headers['x-concurrency-limit']).to.equal(String(CAP));
      expect(Number(answer.headers['retry-after'])).to.be.within(1, 60);
    }
    expect(alive()).to.equal(CAP);
    await finish(...calls);
  });

  it('frees the places of an API process that is killed, within 20 s', async () => {
    const calls = await fill();
    await one.process.kill();
    const killedMs = performance.now();
    // Its pages end with its sockets. Its leases hold their places until they expire, and no sooner
    // is anybody let in.
    await site.witness.until(account.id, CAP - 2);
    const more = await refill(two);
    expect(performance.now() - killedMs).to.be.lessThan(20_000);
    expect(await ends(calls.one)).to.deep.equal(['broken', 'broken']);
    await finish(...calls.two, ...more);
  });

  it('ends the renders of an API process that is frozen for 30 s before their places are given away', async () => {
    const calls = await fill();
    await one.process.freeze();
    const thawed = sleep(30_000).then(() => one.process.thaw());
    await site.witness.until(account.id, CAP - 2);
    const more = await refill(two);
    await thawed;
    // It wakes up to leases that are somebody else's by now, and knows it.
    expect(await ends(calls.one)).to.deep.equal([502, 502]);
    expect((await site.render(account, { html: 'x' }, one)).status).to.equal(429);
    await finish(...calls.two, ...more);
  });

  it('ends the renders of an API process whose every socket falls silent', async () => {
    const calls = await fill();
    const cut = [...one.toWorkers, one.toMongod!];
    for (const link of cut) link.swallow();
    await site.witness.until(account.id, CAP - 2);
    const more = await refill(two);
    expect(await ends(calls.one)).to.deep.equal([502, 502]);
    for (const link of cut) link.heal();
    await eventually(async () =>
      expect(await ends([site.render(account, { html: 'x' }, one)])).to.deep.equal([429]),
    );
    await finish(...calls.two, ...more);
  });

  it('holds the place of a render whose caller is gone until the worker has surely ended it', async () => {
    const calls = await fill();
    for (const link of one.toWorkers) link.swallow();
    for (const call of calls.one) call.disconnect();
    const more = await refill(two);
    expect(await ends(calls.one)).to.deep.equal(['broken', 'broken']);
    for (const link of one.toWorkers) link.heal();
    await finish(...calls.two, ...more);
  });

  it('renders again elsewhere what a silent worker had, when its page has surely ended', async () => {
    const calls = await fill();
    for (const link of one.toWorkers.slice(0, 1)) link.swallow();
    const [first] = site.workers;
    // Those on the silent worker come back on the other one; nobody is refused for it, and nobody
    // runs twice.
    await first!.process.said('closed the connection of an API that did not respond');
    await site.witness.until(account.id, CAP);
    for (const link of one.toWorkers) link.heal();
    await finish(...calls.one, ...calls.two);
  });
});
