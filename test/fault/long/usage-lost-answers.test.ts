// Usage when MongoDB has written but its response is lost: the connection breaks, the response is
// dropped, or the write concern fails.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { countedRight, metricsAgree } from '../harness/counted-right.ts';
import { openCustomers, type Rush } from '../harness/customers.ts';
import { type Deployment, startDeployment } from '../harness/deployment.ts';
import { commandOf } from '../harness/frames.ts';
import { type Ledger, openLedger } from '../harness/ledger.ts';
import type { FrameRule } from '../harness/link.ts';
import { quiet } from '../harness/quiet.ts';
import { type Chance, chanceOfThisRun } from '../harness/random.ts';

const RENDERS = 300;

/** The command of admissions and settlements. */
const FIND_AND_MODIFY = 'findAndModify';
/** Includes renewals and releases. */
const WRITES: readonly (string | undefined)[] = [FIND_AND_MODIFY, 'update'];
const answersOne: FrameRule['matches'] = (_frame, { before }) =>
  before !== undefined && WRITES.includes(commandOf(before));

describe('the usage of customers, when responses of MongoDB are lost', function () {
  this.timeout(300_000);
  let deployment: Deployment;
  let ledger: Ledger;

  beforeEach(async () => {
    deployment = await startDeployment({ links: true, api: { PRESSROOM_PLANS: 'scale=32' } });
    ledger = await openLedger(deployment.cluster);
  });
  afterEach(async () => {
    await ledger?.close();
    await deployment?.stop();
  });

  /** Random failures of the server during the calls. */
  async function failNowAndThen(rush: Rush, chance: Chance): Promise<void> {
    let over = false;
    void rush.over.then(() => {
      over = true;
    });
    while (!over) {
      const data = chance.pick([
        { closeConnection: true },
        { writeConcernError: { code: 64, errmsg: 'waiting for replication timed out' } },
        { writeConcernError: { code: 91, errmsg: 'Replication is being shut down' } },
        { errorCode: 11602, errorLabels: ['RetryableWriteError'] },
      ]);
      await deployment.cluster.fail([chance.pick([FIND_AND_MODIFY, 'update'])], data, {
        times: chance.int(1, 4),
      });
      await sleep(chance.int(100, 800));
    }
    await deployment.cluster.working();
  }

  it(`is exact after ${RENDERS} renders`, async () => {
    const chance = chanceOfThisRun('usage with lost answers');
    const customers = await openCustomers(deployment);
    const rules = deployment.apis.flatMap(({ toMongod }) => {
      const sometimes = (share: number, action: FrameRule['do']) =>
        toMongod!.onFrame({
          direction: 'down',
          matches: (...of) => answersOne(...of) && chance.percent(share),
          do: action,
        });
      return [sometimes(4, 'cut'), sometimes(1, 'lose'), sometimes(4, { delayMs: 300 })];
    });
    const rush = customers.come(RENDERS, chance);
    await failNowAndThen(rush, chance);
    const hits = rules.map(rule => rule.hits());
    for (const { toMongod } of deployment.apis) toMongod!.heal();
    expect(hits.reduce((total, each) => total + each)).to.be.greaterThan(0);
    const visits = await rush.over;
    await metricsAgree(
      deployment,
      visits,
      await countedRight(deployment, customers, ledger, visits),
    );
    // Most renders succeed despite the failures.
    const stayed = visits.filter(({ manner }) => manner === 'stays');
    expect(stayed.filter(({ end }) => end === 200).length).to.be.greaterThan(stayed.length / 2);
  });

  it('counts a render once when its client disconnects during the settlement', async () => {
    const account = await deployment.account();
    const [api] = deployment.apis;
    const call = deployment.render(account, deployment.probePages.page(account.id, 'a page'), api);
    const end = call.catch(error => error.name);
    await deployment.probePages.until(account.id, 1);
    const rule = api!.toMongod!.onFrame({
      direction: 'up',
      matches: frame => commandOf(frame) === FIND_AND_MODIFY,
      do: 'swallow',
      times: 1,
    });
    deployment.probePages.release(account.id);
    await eventually(() => expect(rule.hits()).to.equal(1));
    call.disconnect();
    expect(await end).to.equal('AbortError');
    await eventually(() =>
      expect(api!.process.log.map(line => line['code'])).to.include('client_closed'),
    );
    // The process has handled the disconnect when it has served a later call.
    expect(
      (await deployment.render(await deployment.account(), { html: '<p>x</p>' }, api)).status,
    ).to.equal(200);
    api!.toMongod!.heal();
    await eventually(async () => expect(await account.usage()).to.equal(1));
    await quiet(deployment);
    await ledger.caughtUp();
    expect(ledger.wrong()).to.deep.equal([]);
    expect(ledger.counted(account.id).length).to.equal(1);
  });
});
