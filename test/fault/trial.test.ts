// @proves POST /v1/trial/render
// Trial renders: their slots are shared by the whole installation, even when the process that holds
// them is killed or frozen.
import { expect } from 'chai';
import type { TrialLimitDocument } from '../../api/store/store.ts';
import { eventually } from '../support/eventually.ts';
import { type Call, httpCall } from '../support/http-call.ts';
import { type ApiReplica, type Deployment, startDeployment } from './harness/deployment.ts';

/** Runs until its process ends or its client disconnects. */
const LONG = { html: 'long', wait_for_expression: 'false' };

describe('the slots of trial renders, on two API processes and eight worker slots', function () {
  this.timeout(120_000);
  let deployment: Deployment;
  let one: ApiReplica;
  let two: ApiReplica;
  let clients = 0;

  beforeEach(async () => {
    deployment = await startDeployment({
      slots: 4,
      api: { PRESSROOM_TRUSTED_PROXIES: '127.0.0.1/32' },
    });
    [one, two] = deployment.apis as [ApiReplica, ApiReplica];
  });
  afterEach(() => deployment?.stop());

  /** Each call comes from another address. */
  const trial = ({ port }: ApiReplica, body: unknown): Call => {
    clients += 1;
    const headers = {
      'content-type': 'application/json',
      'x-forwarded-for': `10.0.${clients >> 8}.${clients & 255}`,
    };
    const call = httpCall(port, 'POST', '/v1/trial/render', headers, JSON.stringify(body));
    call.catch(() => {});
    return call;
  };
  const claimed = async () => {
    const each = await Promise.all(
      deployment.workers.map(async ({ process }) =>
        (await process.metrics()).sum('pressroom_slots', { state: 'claimed' }),
      ),
    );
    return each.reduce((sum, count) => sum + count, 0);
  };
  const trialLeases = async () =>
    (
      await deployment.cluster.client
        .db('pressroom')
        .collection<TrialLimitDocument>('limits')
        .findOne({ _id: 'places' })
    )?.leases ?? [];

  /** Starts two trial renders at this process. */
  async function fill(api: ApiReplica): Promise<Call[]> {
    const calls = [trial(api, LONG), trial(api, LONG)];
    await eventually(async () => expect(await claimed()).to.equal(2), 30_000);
    return calls;
  }

  const untilAdmitted = (api: ApiReplica) =>
    eventually(
      async () => expect((await trial(api, { html: 'short' })).status).to.equal(200),
      60_000,
    );

  it('are free for another process when the leases of killed and of frozen ones have expired', async () => {
    const three = await deployment.addApi();
    const [killed, frozen] = [trial(one, LONG), trial(three, LONG)];
    await eventually(async () => expect(await claimed()).to.equal(2), 30_000);
    expect((await trial(two, LONG)).status).to.equal(429);
    await one.process.kill();
    await three.process.freeze();
    const held = await trialLeases();
    expect(held).to.have.length(2);
    expect(await killed.catch(() => 'broken')).to.equal('broken');
    // The page of the killed process has ended, its lease has not.
    await eventually(async () => expect(await claimed()).to.be.lessThan(2), 30_000);
    expect((await trial(two, LONG)).status).to.equal(429);
    await untilAdmitted(two);
    const first = trial(two, LONG);
    // With one slot in use, another render needs the second one.
    await untilAdmitted(two);
    const { localTime } = await deployment.cluster.client.db('admin').command({ hello: 1 });
    for (const { expires } of held) expect(localTime).to.be.at.least(expires);
    // It aborts its render when it resumes.
    three.process.thaw();
    expect((await frozen).status).to.equal(502);
    expect((await trial(two, { html: 'short' })).status).to.equal(200);
    first.disconnect();
  });

  it('leave slots to a customer while anonymous clients exceed the trial', async () => {
    const account = await deployment.account('growth');
    const calls = await fill(one);
    const rejected = await Promise.all(
      Array.from({ length: 60 }, (_, nth) => trial(nth % 2 ? one : two, LONG)),
    );
    expect(new Set(rejected.map(({ status }) => status))).to.deep.equal(new Set([429]));
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => deployment.render(account, { html: 'x' })),
    );
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200]);
    expect(await account.usage()).to.equal(4);
    for (const call of calls) call.disconnect();
  });
});
