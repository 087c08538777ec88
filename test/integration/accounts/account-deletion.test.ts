// @proves account-deletion
// What remains in the database of a deleted account, also when the deletion fails in the middle.
import { expect } from 'chai';
import { type Document, MongoClient } from 'mongodb';
import { AccountDeletion, deletionSweep } from '../../../api/accounts/account-deletion.ts';
import { Accounts } from '../../../api/accounts/accounts.ts';
import { parsePlans } from '../../../api/accounts/plans.ts';
import { type AccountData, accountData } from '../../../api/store/account-data.ts';
import { connectStore, type Store } from '../../../api/store/store.ts';
import { silentLog } from '../../../common/log.ts';
import { eventually } from '../../support/eventually.ts';
import { rejectionOf } from '../../support/lease-fixture.ts';
import { freshMongod } from '../../support/servers/mongod.ts';

/** More than are deleted with one command. */
const JOBS = 450;
const DATABASE = 'deletions';

describe('the deletion of an account', function () {
  this.timeout(120_000);
  let mongod: Awaited<ReturnType<typeof freshMongod>>;
  let admin: MongoClient;
  let store: Store;
  let deletion: AccountDeletion;
  let rows: AccountData[];
  let created = 0;

  before(async () => {
    mongod = await freshMongod();
    admin = await MongoClient.connect(mongod.uri);
    store = connectStore({ uri: mongod.uriFor(DATABASE), operationTimeoutMs: 5_000 }, silentLog);
    await store.start();
    deletion = new AccountDeletion(store);
    rows = accountData(store);
  });
  afterEach(() => failDeletes(undefined));
  after(async () => {
    await store?.stop(AbortSignal.timeout(5_000));
    await admin?.close();
    await mongod?.stop();
  });

  /** Lets deletions from this collection fail. */
  const failDeletes = (collection: string | undefined, mode: unknown = 'alwaysOn') =>
    admin.db('admin').command({
      configureFailPoint: 'failCommand',
      mode: collection === undefined ? 'off' : mode,
      data: {
        failCommands: ['delete'],
        errorCode: 2,
        namespace: `${DATABASE}.${collection}`,
      },
    });

  const record = async () => {};
  async function deleteNow(account: string): Promise<void> {
    await deletion.begin(account, record);
    await deletion.finish(account);
  }

  /** How many documents of each collection have the account's ID, or one of its IDs, in them. */
  async function documentsOf(account: string): Promise<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const { collection } of rows) {
      const all = await collection.find().toArray();
      const own = all.filter(each => JSON.stringify(each).includes(account));
      if (own.length > 0) counts[collection.collectionName] = own.length;
    }
    return counts;
  }
  const LEFT = { audit: 1, deleted_accounts: 1 };

  const insert = (collection: unknown, ...documents: Document[]) =>
    (collection as Store['meta']).insertMany(documents as never);

  /** An account with documents in every collection that can have some. All IDs contain its ID. */
  async function seeded(jobs = 3, name = `account ${++created}`): Promise<string> {
    const accounts = new Accounts(store, { plans: parsePlans([]), peppers: ['a pepper'] });
    const { id } = await accounts.createAccount(name);
    const { console, asynchronous } = store;
    const ids = Array.from({ length: jobs }, (_, nth) => `rnd_${id}${nth}`);
    const chunk = (files_id: string) => ({ files_id, n: 0, data: Buffer.alloc(1) });
    await insert(console.teams, { _id: id, members: [], invitations: [] });
    await insert(console.oauthGrants, { _id: `grant-${id}`, account: id, user: 'usr_1' });
    await insert(console.oauth, { _id: `token-${id}`, grantId: `grant-${id}` });
    await insert(console.cancelledCalls, { _id: `grant-${id}`, calls: [] });
    await insert(console.storedPdfs, { _id: `pdf-${id}`, metadata: { account: id, hash: id } });
    await insert(asynchronous.jobs, ...ids.map(_id => ({ _id, account: id, status: 'queued' })));
    await insert(
      console.storedPdfChunks,
      chunk(`pdf-${id}`),
      ...ids.flatMap(_id => [chunk(`${_id}/request`), chunk(`${_id}/pdf/lease`)]),
    );
    await insert(asynchronous.batches, { _id: `bat_${id}`, account: id });
    await insert(asynchronous.outbox, ...ids.map(_id => ({ _id, account: id })));
    await insert(console.renders, ...ids.map(_id => ({ _id, account: id, at: new Date() })));
    await insert(console.usageDays, { _id: { account: id, day: '2026-11-28', key: 'k' } });
    await insert(console.audit, { _id: `aud_${id}`, account: id, at: new Date() });
    return id;
  }

  it('has a row in its table for each collection', async () => {
    const { accounts, deletedAccounts, meta, trialLimits, console, asynchronous } = store;
    const used = [
      ...[accounts, deletedAccounts, meta, trialLimits],
      ...[...Object.values(console), ...Object.values(asynchronous)],
    ].map(({ collectionName }) => collectionName);
    await seeded();
    const existing = await admin.db(DATABASE).listCollections().toArray();
    const names = new Set([...used, ...existing.map(({ name }) => name)]);
    expect(rows.map(({ collection }) => collection.collectionName)).to.have.members([...names]);
  });

  it('is tested with documents in each collection that has some of an account', async () => {
    const left = rows.filter(row => 'kept' in row).map(({ collection }) => collection);
    const seen = Object.keys(await documentsOf(await seeded()));
    expect([...seen, ...left.map(({ collectionName }) => collectionName)]).to.include.members(
      rows.map(({ collection }) => collection.collectionName),
    );
  });

  it('deletes all its documents but the audit log, and none of another account', async () => {
    const [account, other] = [await seeded(JOBS), await seeded()];
    const before = await documentsOf(other);
    await deleteNow(account);
    expect(await documentsOf(account)).to.deep.equal(LEFT);
    expect(await documentsOf(other)).to.deep.equal(before);
  });

  it('lets a new account have the name, which inherits nothing', async () => {
    const account = await seeded(3, 'reused');
    await deletion.begin(account, record);
    const next = await seeded(3, 'reused');
    const before = await documentsOf(next);
    await deletion.finish(account);
    expect(next).to.not.equal(account);
    expect(await documentsOf(next)).to.deep.equal(before);
  });

  it('finishes in a second run when it failed at any collection', async () => {
    const deleted = rows.filter(row => !('kept' in row)).map(row => row.collection.collectionName);
    for (const collection of deleted) {
      const name = `fails at ${collection}`;
      const account = await seeded(3, name);
      await deletion.begin(account, record);
      // These two are empty by then.
      if (collection !== 'accounts' && collection !== 'teams') {
        await failDeletes(collection);
        expect(await rejectionOf(deletion.finish(account)), collection).to.include({ code: 2 });
        await failDeletes(undefined);
        expect(Object.keys(await documentsOf(account))).to.include(collection);
      }
      expect(await deletion.interrupted(name), collection).to.deep.equal([account]);
      await deletion.finish(account);
      expect(await documentsOf(account), collection).to.deep.equal(LEFT);
      expect(await deletion.interrupted(name), collection).to.deep.equal([]);
    }
  });

  it('changes nothing when its entry in the audit log cannot be written', async () => {
    const account = await seeded();
    const before = await documentsOf(account);
    const failed = deletion.begin(account, async () => {
      throw new Error('no entry');
    });
    expect((await rejectionOf(failed)).message).to.equal('no entry');
    expect(await documentsOf(account)).to.deep.equal(before);
  });

  it('finds the documents of an account by an index in each collection', async () => {
    const account = await seeded();
    for (const row of rows) {
      const filters =
        'account' in row
          ? [{ [row.account]: account }]
          : 'partsOf' in row
            ? row.partsOf.map(({ filter }) => filter([account]))
            : [];
      for (const filter of filters)
        expect(
          JSON.stringify(await row.collection.find(filter).explain('queryPlanner')),
          row.collection.collectionName,
        ).to.not.include('COLLSCAN');
    }
  });

  it('goes on with the other accounts when it fails for one', async () => {
    const accounts = [await seeded(), await seeded()];
    for (const account of accounts) await deletion.begin(account, record);
    await failDeletes('jobs', { times: 1 });
    const failed = await rejectionOf(deletion.finishAll());
    expect(failed).to.include({ code: 2 });
    const left = await Promise.all(accounts.map(documentsOf));
    expect(left.filter(each => 'jobs' in each)).to.have.length(1);
    await deletion.finishAll();
    for (const account of accounts) expect(await documentsOf(account)).to.deep.equal(LEFT);
  });

  it('covers all accounts that were deleted in the last hour', async () => {
    const last = await seeded();
    const ids = [...Array.from({ length: 150 }, (_, nth) => `many ${nth}`), last];
    const at = new Date();
    await store.deletedAccounts.insertMany(
      ids.map((_id, nth) => ({ _id, name: 'n', at, keptUntil: new Date(Date.now() + 60e3 + nth) })),
    );
    await deletion.finishAll();
    expect(await documentsOf(last)).to.not.have.property('jobs');
    await store.deletedAccounts.deleteMany({ _id: /^many/ as never });
  });

  it('stops with its process, and goes on in the next', async () => {
    const account = await seeded(JOBS);
    await deletion.begin(account, record);
    const stopping = new AbortController();
    const { deletedAccounts } = store;
    const finished = deletion.finishAll(stopping.signal);
    stopping.abort(new Error('stopped'));
    expect((await rejectionOf(finished)).message).to.equal('stopped');
    expect(await deletedAccounts.findOne({ _id: account })).to.not.have.property('keptUntil');
    await failDeletes(undefined);
    await deletion.finishAll();
    expect(await documentsOf(account)).to.deep.equal(LEFT);
  });

  it('also deletes what calls in progress store afterwards, for an hour', async () => {
    const account = await seeded();
    await deleteNow(account);
    await insert(store.console.usageDays, { _id: { account, day: '2026-11-29', key: 'k' } });
    await insert(store.asynchronous.jobs, { _id: `rnd_${account}`, account, status: 'queued' });
    await insert(store.console.storedPdfChunks, { files_id: `rnd_${account}/request`, n: 0 });
    const interrupted = await seeded();
    await deletion.begin(interrupted, record);
    const sweep = deletionSweep(store, silentLog);
    await sweep.start();
    await eventually(async () => {
      expect(await documentsOf(account)).to.deep.equal(LEFT);
      expect(await documentsOf(interrupted)).to.deep.equal(LEFT);
    });
    await sweep.stop(new AbortController().signal);
    const { keptUntil } = (await store.deletedAccounts.findOne({ _id: account }))!;
    expect(keptUntil!.getTime()).to.be.within(Date.now() + 3_000e3, Date.now() + 3_600e3);
  });

  it('is refused while Stripe has a subscription of the account', async () => {
    const account = await seeded();
    const day = 86_400e3;
    const setPeriodEnd = (periodEnd: Date) =>
      store.accounts.updateOne(
        { _id: account },
        { $set: { 'billing.subscription': 'sub_1', 'billing.periodEnd': periodEnd } },
      );
    // Stripe's report of the next period may be late.
    for (const at of [Date.now() + day, Date.now() - day]) {
      await setPeriodEnd(new Date(at));
      const before = await documentsOf(account);
      const refused = await rejectionOf(deleteNow(account));
      expect(refused).to.include({ code: 'conflict' });
      expect(refused.message).to.include('sub_1').and.include('Cancel it');
      expect(await documentsOf(account)).to.deep.equal(before);
    }
    await store.accounts.updateOne({ _id: account }, { $unset: { 'billing.periodEnd': 1 } });
    await deleteNow(account);
    expect(await documentsOf(account)).to.deep.equal(LEFT);
  });

  it('is not possible twice, nor for an unknown account', async () => {
    const account = await seeded();
    await deleteNow(account);
    for (const id of [account, 'unknown'])
      expect(await rejectionOf(deletion.begin(id, record))).to.include({ code: 'not_found' });
  });
});
