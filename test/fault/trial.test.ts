// @proves POST /v1/trial/render
// Trial renders: their few places are those of the whole installation, whatever becomes of the
// process that holds them.
import { expect } from 'chai';
import type { TrialLimitDocument } from '../../api/store/store.ts';
import { eventually } from '../support/eventually.ts';
import { type Call, httpCall } from '../support/http-call.ts';
import { type ApiSeat, type Site, startSite } from './harness/site.ts';

/** Runs until its process or its caller goes. */
const LONG = { html: 'long', wait_for_expression: 'false' };

describe('the places of trial renders, on two API processes and eight slots', function () {
  this.timeout(120_000);
  let site: Site;
  let one: ApiSeat;
  let two: ApiSeat;
  let visitors = 0;

  beforeEach(async () => {
    site = await startSite({ slots: 4, api: { PRESSROOM_TRUSTED_PROXIES: '127.0.0.1/32' } });
    [one, two] = site.apis as [ApiSeat, ApiSeat];
  });
  afterEach(() => site?.stop());

  /** From an address of its own each time. */
  const trial = ({ port }: ApiSeat, body: unknown): Call => {
    visitors += 1;
    const headers = {
      'content-type': 'application/json',
      'x-forwarded-for': `10.0.${visitors >> 8}.${visitors & 255}`,
    };
    const call = httpCall(port, 'POST', '/v1/trial/render', headers, JSON.stringify(body));
    call.catch(() => {});
    return call;
  };
  const claimed = async () => {
    const each = await Promise.all(
      site.workers.map(async ({ process }) =>
        (await process.metrics()).sum('pressroom_slots', { state: 'claimed' }),
      ),
    );
    return each.reduce((sum, count) => sum + count, 0);
  };
  const places = async () =>
    (
      await site.cluster.client
        .db('pressroom')
        .collection<TrialLimitDocument>('limits')
        .findOne({ _id: 'places' })
    )?.leases ?? [];

  /** Two trial renders run at this process. */
  async function fill(api: ApiSeat): Promise<Call[]> {
    const calls = [trial(api, LONG), trial(api, LONG)];
    await eventually(async () => expect(await claimed()).to.equal(2), 30_000);
    return calls;
  }

  const letIn = (api: ApiSeat) =>
    eventually(
      async () => expect((await trial(api, { html: 'short' })).status).to.equal(200),
      60_000,
    );

  it('are both taken by one process, and free for the other when that is killed, once their leases have expired', async () => {
    const calls = await fill(one);
    expect((await trial(two, LONG)).status).to.equal(429);
    await one.process.kill();
    const held = await places();
    expect(held).to.have.length(2);
    for (const call of calls) expect(await call.catch(() => 'broken')).to.equal('broken');
    // The pages are gone, the places are not.
    await eventually(async () => expect(await claimed()).to.equal(0), 30_000);
    expect((await trial(two, LONG)).status).to.equal(429);
    await letIn(two);
    const { localTime } = await site.cluster.client.db('admin').command({ hello: 1 });
    for (const { expires } of held) expect(localTime).to.be.at.least(expires);
  });

  it('are taken by nobody for long when their process was frozen, and it ends the renders that it still believed in', async () => {
    const calls = await fill(one);
    await one.process.freeze();
    await letIn(two);
    one.process.thaw();
    for (const call of calls) expect((await call).status).to.equal(502);
    expect((await trial(two, { html: 'short' })).status).to.equal(200);
  });

  it('leave a customer his slot while trial callers want more than there is', async () => {
    const account = await site.account('growth');
    const calls = await fill(one);
    const refused = await Promise.all(
      Array.from({ length: 60 }, (_, nth) => trial(nth % 2 ? one : two, LONG)),
    );
    expect(new Set(refused.map(({ status }) => status))).to.deep.equal(new Set([429]));
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => site.render(account, { html: 'x' })),
    );
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200]);
    expect(await account.usage()).to.equal(4);
    for (const call of calls) call.disconnect();
  });
});
