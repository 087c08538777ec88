// Usage when MongoDB's primary steps down or is killed while renders are admitted and counted.
import { expect } from 'chai';
import { countedRight, metricsAgree } from '../harness/counted-right.ts';
import { openCustomers } from '../harness/customers.ts';
import { type Deployment, startDeployment } from '../harness/deployment.ts';
import { openLedger } from '../harness/ledger.ts';
import { chanceOfThisRun } from '../harness/random.ts';

const RENDERS = 300;

describe('the usage of customers, on a replica set of three', function () {
  this.timeout(300_000);
  let deployment: Deployment;

  beforeEach(async () => {
    deployment = await startDeployment({ members: 3, api: { PRESSROOM_PLANS: 'scale=32' } });
  });
  afterEach(() => deployment?.stop());

  it(`is exact after ${RENDERS} renders with two elections and a primary that is killed`, async () => {
    const customers = await openCustomers(deployment);
    const ledger = await openLedger(deployment.cluster);
    try {
      const rush = customers.come(RENDERS, chanceOfThisRun('usage with elections'));
      await rush.reached(RENDERS / 5);
      await deployment.cluster.stepDown();
      await rush.reached((2 * RENDERS) / 5);
      await deployment.cluster.stepDown();
      await rush.reached((3 * RENDERS) / 5);
      const primary = await deployment.cluster.primary();
      await primary.kill();
      await rush.reached((4 * RENDERS) / 5);
      await primary.start();
      const visits = await rush.over;
      await metricsAgree(
        deployment,
        visits,
        await countedRight(deployment, customers, ledger, visits),
      );
      const stayed = visits.filter(({ manner }) => manner === 'stays');
      expect(stayed.filter(({ end }) => end === 200).length).to.be.greaterThan(stayed.length / 2);
    } finally {
      await ledger.close();
    }
  });
});
