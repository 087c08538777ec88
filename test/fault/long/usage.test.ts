// @proves usage
// Usage: the count is exact despite client disconnects, failing pages and a paused MongoDB.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { countedRight, metricsAgree } from '../harness/counted-right.ts';
import { openCustomers } from '../harness/customers.ts';
import { type Deployment, startDeployment } from '../harness/deployment.ts';
import { openLedger } from '../harness/ledger.ts';
import { chanceOfThisRun } from '../harness/random.ts';

const RENDERS = 1_000;
const PAUSE_MS = 3_000;

describe('the usage of customers, on two API processes and two workers', function () {
  this.timeout(400_000);
  let deployment: Deployment;

  beforeEach(async () => {
    deployment = await startDeployment({ api: { PRESSROOM_PLANS: 'scale=32' } });
  });
  afterEach(() => deployment?.stop());

  it(`is exact after ${RENDERS} renders with disconnects, failing pages and a MongoDB frozen for 3 s`, async () => {
    const customers = await openCustomers(deployment);
    const ledger = await openLedger(deployment.cluster);
    const [mongod] = deployment.cluster.members;
    try {
      const rush = customers.come(RENDERS, chanceOfThisRun('usage'));
      await rush.reached(RENDERS / 2);
      await mongod!.freeze();
      await sleep(PAUSE_MS);
      mongod!.thaw();
      const visits = await rush.over;
      await metricsAgree(
        deployment,
        visits,
        await countedRight(deployment, customers, ledger, visits),
      );
      const bad = visits
        .map(({ manner, end, outcome }) => ({ manner, end, outcome }))
        .filter(({ end }) => end !== 200);
      expect(bad.filter(({ end }) => end === 'broken')).to.deep.equal([]);
      // A connected client gets its PDF, unless on a slow machine the pause exceeds the time limit
      // of an admission.
      expect(
        bad.filter(({ manner, outcome }) => manner === 'stays' && outcome !== 'database'),
      ).to.deep.equal([]);
    } finally {
      await ledger.close();
    }
  });
});
