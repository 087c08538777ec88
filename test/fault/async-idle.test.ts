// @proves POST /v1/renders
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { type Deployment, startDeployment } from './harness/deployment.ts';

/** Long enough for a round of each loop: the slowest pauses for 12.5 s at most. */
const MEASURED_S = 15;

describe('an API process without asynchronous renders to do', function () {
  this.timeout(180_000);
  let deployment: Deployment;

  before(async () => {
    deployment = await startDeployment({ apis: 1, workers: 1, api: { PRESSROOM_ASYNC: 'on' } });
  });
  after(() => deployment?.stop());

  it('sends less than one command per second for them', async () => {
    const db = deployment.cluster.client.db('pressroom');
    await db.command({ profile: 2 });
    await sleep(MEASURED_S * 1_000);
    await db.command({ profile: 0 });
    const about = /^pressroom\.(jobs|batches|outbox|audit)$/;
    const found = await db.collection('system.profile').find({ ns: about }).toArray();
    const names = found.map(({ op, command }) => `${op} ${Object.keys(command)[0]}`);
    // `getmore` waits for a change, up to a second or more.
    expect(names.length, names.join()).to.be.within(1, MEASURED_S);
  });
});
