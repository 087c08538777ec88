import { expect } from 'chai';
import { type Document, MongoServerError, MongoWriteConcernError } from 'mongodb';
import { connectStore, type Store } from '../../api/store/store.ts';
import { silentLog } from '../../common/log.ts';
import { commandOf, documentOf } from '../fault/harness/frames.ts';
import { type Link, openLink } from '../fault/harness/link.ts';
import { type LeaseRig, leaseRig, type TestAccount } from '../support/lease-rig.ts';

describe('the writes of leases, as MongoDB gets them', () => {
  let rig: LeaseRig;
  let link: Link;
  let store: Store;
  let account: TestAccount;
  let sent: Document[];
  before(async () => {
    rig = await leaseRig();
    link = await openLink(rig.mongod.port, 'mongodb');
    const uri = rig.uriThrough(link.port);
    store = connectStore({ uri, operationTimeoutMs: 700 }, silentLog);
    await store.start();
    link.onFrame({
      direction: 'up',
      matches: frame => {
        if (['findAndModify', 'update'].includes(commandOf(frame)!)) sent.push(documentOf(frame));
        return false;
      },
      do: 'cut',
    });
  });
  beforeEach(async () => {
    account = await rig.account('free');
    sent = [];
  });
  afterEach(() => rig.reset());
  after(async () => {
    await store?.stop(new AbortController().signal);
    await link?.close();
    await rig?.close();
  });

  const mine = () => ({ _id: account.id });

  it('have no transaction number, and the limits that all writes have', async () => {
    const leases = await rig.replica({}, store);
    await leases.settle(await leases.admit(account.caller));
    await leases.release(await leases.admit(account.caller));
    expect(sent.length).to.be.at.least(4);
    for (const command of sent) {
      expect(command).to.not.have.property('txnNumber');
      expect(command).to.deep.include({ writeConcern: { w: 'majority', wtimeout: 700 }, maxTimeMS: 700 });
    }
  });

  it('tell how many documents they changed', async () => {
    expect(await store.leaseWrites.update(mine(), { $set: { plan: 'scale' } })).to.equal(1);
    expect(await store.leaseWrites.update(mine(), { $set: { plan: 'scale' } })).to.equal(0);
    expect(await store.leaseWrites.update({ _id: 'nosuchacct' }, { $set: { plan: 'scale' } })).to.equal(0);
  });

  it('give what they were asked for of the document afterwards, or null', async () => {
    const count = { $inc: { 'usage.count': 1 } };
    const fields = { _id: 0, count: '$usage.count' };
    expect(await store.leaseWrites.findAndModify(mine(), count, fields)).to.deep.equal({ count: 1 });
    expect(await store.leaseWrites.findAndModify({ _id: 'nosuchacct' }, count, fields)).to.equal(null);
  });

  it('leave out what is undefined, as all writes do', async () => {
    expect(await store.leaseWrites.update({ ...mine(), plan: undefined }, { $set: { plan: 'scale', name: undefined } })).to.equal(1);
    expect(await account.read()).to.include({ plan: 'scale', name: account.name });
  });

  const refused = (write: Promise<unknown>) =>
    write.then(
      () => expect.fail('it was not refused'),
      error => error,
    );

  it('fail when the server says so of the one update in a command that went well', async () => {
    const error = await refused(store.leaseWrites.update(mine(), { $set: { 'name.first': 'Ada' } }));
    expect(error).to.be.instanceOf(MongoServerError).and.to.include({ code: 28 });
    expect(sent, 'a mistake is not repeated').to.have.length(1);
  });

  it('are done in one command though the server refuses one of them, which the sum tells', async () => {
    const accounts = await Promise.all([1, 2, 3].map(() => rig.account('free')));
    const [upgrade, mistake] = [{ $set: { plan: 'scale' } }, { $set: { 'name.first': 'Ada' } }];
    const updates = accounts.map(({ id }, nth) => ({ filter: { _id: id }, change: nth === 1 ? mistake : upgrade }));
    expect(await store.leaseWrites.updates(updates)).to.equal(2);
    expect(sent).to.have.length(1);
    const plans = await Promise.all(accounts.map(async ({ read }) => (await read()).plan));
    expect(plans).to.deep.equal(['scale', 'free', 'scale']);
  });

  it('fail when a majority may not have them, though they are done', async () => {
    for (const [command, write] of [
      ['update', () => store.leaseWrites.update(mine(), { $inc: { 'usage.count': 1 } })],
      ['update', () => store.leaseWrites.updates([{ filter: mine(), change: { $inc: { 'usage.count': 1 } } }])],
      ['findAndModify', () => store.leaseWrites.findAndModify(mine(), { $inc: { 'usage.count': 1 } }, { _id: 1 })],
    ] as const) {
      await rig.failing(command, { writeConcernError: { code: 64, errmsg: 'waiting for replication timed out' } }, { times: 1 });
      expect(await refused(write())).to.be.instanceOf(MongoWriteConcernError);
    }
    expect(await account.usage()).to.equal(3);
  });
});
