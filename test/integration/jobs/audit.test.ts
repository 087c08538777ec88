// @proves audit-log, DELETE /v1/renders/{id}, DELETE /v1/batches/{id}
// The entries of the audit log for asynchronous renders that programs cancel and that expire.
import { expect } from 'chai';
import { ProgramAudit } from '../../../api/history/program-audit.ts';
import { JobOperations } from '../../../api/jobs/job-operations.ts';
import { JobSweep } from '../../../api/jobs/job-sweep.ts';
import type { AuditDocument } from '../../../api/store/store.ts';
import type { Batch } from '../../../common/contract/batches.ts';
import { createLog, silentLog } from '../../../common/log.ts';
import { asyncClient, batchClient } from '../../support/async-fixture.ts';
import { type Installation, installation } from '../../support/installation.ts';
import { storedJob } from '../../support/stored-job.ts';

const SECRET = 'a secret of these tests';
const HELLO = { html: '<h1>Hello, world</h1>' };
/** No test may depend on when the hour ends. */
const HOURS = 2;

describe('the audit log of asynchronous renders', () => {
  let pressroom: Installation;
  const logged: Record<string, unknown>[] = [];

  before(async () => {
    pressroom = await installation({
      workers: 0,
      plan: 'starter',
      env: { PRESSROOM_ASYNC: 'on', PRESSROOM_SECRET: SECRET },
      log: createLog('info', 'api', { write: line => logged.push(JSON.parse(line)) }),
    });
  });
  after(() => pressroom.stop());

  let names = 0;
  /** A new account with a key. */
  async function customer() {
    const name = `customer ${names++}`;
    const { id } = await pressroom.accounts.createAccount(name, { plan: 'starter' });
    const { text, key } = await pressroom.accounts.createKey(name, { name: 'invoices' });
    return { id, name, text, key };
  }
  const clientOf = (key: string) => asyncClient(pressroom.api.port(), key);
  const entries = (account: string): Promise<AuditDocument[]> =>
    pressroom.store.console.audit.find({ account }).sort({ at: 1 }).toArray();
  const sum = (found: AuditDocument[], counter: string) =>
    found.reduce((total, { details }) => total + Number(details![counter]), 0);
  const cancel = async (key: string, id: string) =>
    (await clientOf(key).call('DELETE', `/${id}`)).status;

  it('counts the renders that a key canceled in one entry an hour', async () => {
    const { id: account, name, text, key } = await customer();
    const other = await pressroom.accounts.createKey(name, { name: 'letters' });
    const ids = await Promise.all(
      Array.from({ length: 9 }, async () => (await clientOf(text).submit(HELLO)).id),
    );
    const begun = new Date();
    // The first ones write the entry at the same time.
    await Promise.all(ids.slice(0, 8).map(id => cancel(text, id)));
    await cancel(other.text, ids[8]!);
    const found = await entries(account);
    const [mine, others] = [key.id, other.key.id].map(id =>
      found.filter(({ details }) => details!['key'] === id),
    );
    expect(mine!.length).to.be.within(1, HOURS);
    expect(sum(mine!, 'renders')).to.equal(8);
    expect(mine![0]).to.include({
      actor: 'API key invoices',
      action: 'renders.canceled',
      ip: '127.0.0.1',
    });
    expect(mine![0]).not.to.have.property('user');
    expect(mine![0]!.at.getTime()).to.be.within(begun.getTime(), Date.now());
    expect(others).to.have.length(1);
    expect(others![0]).to.deep.include({
      actor: 'API key letters',
      details: { key: other.key.id, renders: 1 },
    });
  });

  it('has nothing about a render that had ended', async () => {
    const { id: account, text } = await customer();
    const { _id } = await storedJob(pressroom.store, SECRET, account, { status: 'canceled' });
    expect(await cancel(text, _id)).to.equal(200);
    const ended = await storedJob(pressroom.store, SECRET, account, { pdf: Buffer.from('a PDF') });
    expect(await cancel(text, ended._id)).to.equal(409);
    expect(await entries(account)).to.deep.equal([]);
  });

  it('counts a render that two calls cancel at once', async () => {
    const { id: account, text } = await customer();
    const { id } = await clientOf(text).submit(HELLO);
    await Promise.all(Array.from({ length: 6 }, () => cancel(text, id)));
    expect(sum(await entries(account), 'renders')).to.equal(1);
  });

  it('has each batch that a key canceled, with the number of its renders', async () => {
    const { id: account, text, key } = await customer();
    const client = batchClient(pressroom.api.port(), text);
    const lines = Array.from({ length: 5 }, () => JSON.stringify(HELLO)).join('\n');
    const { id } = await client.submit(lines);
    const path = `/v1/batches/${id}`;
    await Promise.all([1, 2, 3].map(() => client.read<Batch>(path, 'DELETE')));
    const [entry, ...others] = await entries(account);
    expect(others).to.deep.equal([]);
    expect(entry).to.deep.include({
      actor: 'API key invoices',
      action: 'batch.canceled',
      target: id,
      details: { key: key.id, canceled: 5 },
      ip: '127.0.0.1',
    });
    await client.read<Batch>(path, 'DELETE');
    expect(await entries(account)).to.deep.equal([entry]);
  });

  it('is missing an entry only with an error in the log, and the call succeeds', async () => {
    const { id: account, text, key } = await customer();
    const { id } = await clientOf(text).submit(HELLO);
    const rule = (validator: object) =>
      pressroom.store.console.audit.db.command({ collMod: 'audit', validator });
    await rule({ account: 'no account' });
    try {
      expect(await cancel(text, id)).to.equal(200);
    } finally {
      await rule({});
    }
    expect(await clientOf(text).read(id)).to.include({ status: 'canceled' });
    const lines = logged.filter(line => line['accountId'] === account && 'action' in line);
    expect(lines).to.have.length(1);
    expect(lines[0]).to.include({
      msg: 'could not write an entry of the audit log',
      actor: 'API key invoices',
      action: 'renders.canceled',
      keyId: key.id,
      renders: 1,
    });
  });

  it('counts expired renders once when several processes sweep together', async () => {
    const customers = await Promise.all([customer(), customer()]);
    const expiresAt = new Date(Date.now() - 1_000);
    for (const { id } of customers)
      for (let index = 0; index < 10; index++) {
        await storedJob(pressroom.store, SECRET, id, { expiresAt });
        await storedJob(pressroom.store, SECRET, id, { expiresAt, pdf: Buffer.from('a PDF') });
      }
    // Its key was deleted when it ended.
    const { _id } = await storedJob(pressroom.store, SECRET, customers[0]!.id, {
      status: 'failed',
      expiresAt,
    });
    const { jobs } = pressroom.store.asynchronous;
    await jobs.updateOne({ _id }, { $unset: { dataKey: 1 } });
    const sweeps = Array.from({ length: 4 }, () => {
      const meters = { ended: () => {}, interrupted: () => {} };
      const audit = new ProgramAudit(pressroom.store, silentLog);
      return new JobSweep(new JobOperations(pressroom.store), audit, silentLog, meters);
    });
    await Promise.all(sweeps.map(sweep => sweep.run()));
    for (const { id: account } of customers) {
      expect(await jobs.countDocuments({ account, dataKey: { $exists: true } })).to.equal(0);
      const found = await entries(account);
      expect(found.length).to.be.within(1, HOURS);
      expect(sum(found, 'renders')).to.equal(20);
      expect(found[0]).to.include({ actor: 'Pressroom', action: 'renders.purged' });
      expect(found[0]).not.to.have.property('ip');
    }
  });
});
