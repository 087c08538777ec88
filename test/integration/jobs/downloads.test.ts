// @proves GET /v1/renders/{id}/pdf, account-shares

import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { createJobId } from '../../../api/jobs/job-id.ts';
import { asyncClient } from '../../support/async-fixture.ts';
import { eventually } from '../../support/eventually.ts';
import { type Installation, installation } from '../../support/installation.ts';
import { storedJob } from '../../support/stored-job.ts';

const SECRET = 'a secret of these tests';
const MIB = 2 ** 20;

describe('downloads of asynchronous renders', () => {
  let pressroom: Installation;
  before(async () => {
    pressroom = await installation({
      workers: 0,
      env: {
        PRESSROOM_ASYNC: 'on',
        PRESSROOM_SECRET: SECRET,
        PRESSROOM_BYTES_IN_FLIGHT: '32MiB',
      },
    });
  });
  after(() => pressroom.stop());

  /** A job of a new account that has succeeded with these bytes. */
  async function succeeded(pdf: Buffer) {
    const name = `account ${createJobId()}`;
    const { id: account } = await pressroom.accounts.createAccount(name);
    const { text: key } = await pressroom.accounts.createKey(name, { name: 'test' });
    const { _id } = await storedJob(pressroom.store, SECRET, account, { pdf });
    const client = asyncClient(pressroom.api.port(), key);
    return {
      key,
      path: `/v1/renders/${_id}/pdf`,
      download: () => client.call('GET', `/${_id}/pdf`),
    };
  }

  it('return the bytes of a large PDF', async () => {
    const pdf = Buffer.alloc(5 * MIB, 'large ');
    const { download } = await succeeded(pdf);
    const answer = await download();
    expect(answer.headers['content-length']).to.equal(String(pdf.length));
    expect(answer.body.equals(pdf)).to.equal(true);
  });

  it('leave memory for other accounts when slow clients use the share of one', async () => {
    const [slow, other] = [
      await succeeded(Buffer.alloc(40 * MIB)),
      await succeeded(Buffer.alloc(9)),
    ];
    const reading = get(`${pressroom.url}${slow.path}`, {
      agent: false,
      headers: { authorization: `Bearer ${slow.key}` },
    });
    const reader = (await once(reading, 'response'))[0] as IncomingMessage;
    const rejected = await slow.download();
    expect(rejected.error()).to.include({ code: 'unavailable' });
    expect(rejected.headers['retry-after']).to.equal('2');
    expect((await other.download()).status).to.equal(200);
    reader.destroy();
    await eventually(async () => expect((await slow.download()).status).to.equal(200));
  });

  it('are gone when the secret has changed', async () => {
    const { download } = await succeeded(Buffer.alloc(9));
    await pressroom.store.asynchronous.jobs.updateMany({}, { $set: { dataKey: 'another' } });
    expect((await download()).error()).to.include({ code: 'gone' });
  });
});
