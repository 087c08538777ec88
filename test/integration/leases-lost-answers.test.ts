import { expect } from 'chai';
import { connectStore, type Store } from '../../api/store/store.ts';
import { silentLog } from '../../common/log.ts';
import { commandOf } from '../fault/harness/frames.ts';
import { type Link, openLink } from '../fault/harness/link.ts';
import { type LeaseRig, leaseRig, refusal, until } from '../support/lease-rig.ts';

describe('a lease whose answers get lost after MongoDB has written', () => {
  let rig: LeaseRig;
  let link: Link;
  let store: Store;
  before(async () => {
    rig = await leaseRig();
    link = await openLink(rig.mongod.port, 'mongodb');
    const uri = `${rig.mongod.uriFor('leases').replace(`:${rig.mongod.port}/`, `:${link.port}/`)}&directConnection=true`;
    store = connectStore({ uri, operationTimeoutMs: 700 }, silentLog);
    await store.start();
  });
  afterEach(() => {
    link.heal();
    return rig.reset();
  });
  after(async () => {
    await store?.stop(new AbortController().signal);
    await link?.close();
    await rig?.close();
  });

  /** The connection breaks when the next answers to `findAndModify` come. */
  const loseAnswers = (times: number) =>
    link.onFrame({ direction: 'down', matches: (_, { before }) => !!before && commandOf(before) === 'findAndModify', do: 'cut', times });

  it('is admitted once when the driver asks again', async () => {
    const scale = await rig.account('scale');
    const leases = await rig.replica({}, store);
    const lost = loseAnswers(1);
    await leases.admit(scale.caller);
    expect(lost.hits()).to.equal(1);
    expect(await scale.leaseCount()).to.equal(1);
  });

  it('is given back when nobody knows that it was admitted', async () => {
    const scale = await rig.account('scale');
    const leases = await rig.replica({}, store);
    const lost = loseAnswers(2);
    expect(await refusal(leases.admit(scale.caller))).to.include({ code: 'render_failed', reason: 'database' });
    expect(lost.hits()).to.equal(2);
    expect(await scale.leaseCount()).to.equal(1);
    await until(async () => (await scale.leaseCount()) === 0);
  });

  it('is counted once when the driver asks again', async () => {
    const scale = await rig.account('scale');
    const leases = await rig.replica({}, store);
    const lease = await leases.admit(scale.caller);
    const lost = loseAnswers(1);
    expect(await leases.settle(lease)).to.equal(1);
    expect(lost.hits()).to.equal(1);
    expect(await scale.usage()).to.equal(1);
  });

  it('is counted once when only the background hears of it', async () => {
    const scale = await rig.account('scale');
    const leases = await rig.replica({}, store);
    const lease = await leases.admit(scale.caller);
    const lost = loseAnswers(3);
    expect(await leases.settle(lease)).to.equal(undefined);
    await until(() => leases.counts().waiting === 0);
    expect(lost.hits()).to.equal(3);
    expect(await scale.usage()).to.equal(1);
    expect(await scale.leaseCount()).to.equal(0);
  });
});
