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

  it('are free for another process when theirs was killed and their leases have expired', async () => {
    const calls = await fill(one);
    expect((await trial(two, LONG)).status).to.equal(429);
    await one.process.kill();
    const held = await trialLeases();
    expect(held).to.have.length(2);
    for (const call of calls) expect(await call.catch(() => 'broken')).to.equal('broken');
    // The pages have ended, the leases have not.
    await eventually(async () => expect(await claimed()).to.equal(0), 30_000);
    expect((await trial(two, LONG)).status).to.equal(429);
    await untilAdmitted(two);
    const { localTime } = await deployment.cluster.client.db('admin').command({ hello: 1 });
    for (const { expires } of held) expect(localTime).to.be.at.least(expires);
  });

  it('are free again while their process is frozen, which aborts its renders when it resumes', async () => {
    const calls = await fill(one);
    await one.process.freeze();
    await untilAdmitted(two);
    one.process.thaw();
    for (const call of calls) expect((await call).status).to.equal(502);
    expect((await trial(two, { html: 'short' })).status).to.equal(200);
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
