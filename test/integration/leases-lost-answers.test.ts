import { expect } from 'chai';
import { connectStore, type Store } from '../../api/store/store.ts';
import { silentLog } from '../../common/log.ts';
import { type LeaseRig, leaseRig, refusal, until } from '../support/lease-rig.ts';
import { lossyProxy } from '../support/lossy-proxy.ts';

describe('a lease whose answers get lost after MongoDB has written', () => {
  let rig: LeaseRig;
  let proxy: Awaited<ReturnType<typeof lossyProxy>>;
  let store: Store;
  before(async () => {
    rig = await leaseRig();
    proxy = await lossyProxy(rig.mongod.port);
    const uri = `${rig.mongod.uriFor('leases').replace(`:${rig.mongod.port}/`, `:${proxy.port}/`)}&directConnection=true`;
    store = connectStore({ uri, operationTimeoutMs: 700 }, silentLog);
    await store.start();
  });
  afterEach(() => rig.reset());
  after(async () => {
    await store?.stop(new AbortController().signal);
    await proxy?.close();
    await rig?.close();
  });

  it('is admitted once when the driver asks again', async () => {
    const scale = await rig.account('scale');
    const leases = await rig.replica({}, store);
    proxy.lose('findAndModify', 1);
    await leases.admit(scale.caller);
    expect(proxy.lost()).to.equal(1);
    expect(await scale.leaseCount()).to.equal(1);
  });

  it('is given back when nobody knows that it was admitted', async () => {
    const scale = await rig.account('scale');
    const leases = await rig.replica({}, store);
    proxy.lose('findAndModify', 2);
    expect(await refusal(leases.admit(scale.caller))).to.include({ code: 'render_failed', reason: 'database' });
    expect(proxy.lost()).to.equal(2);
    expect(await scale.leaseCount()).to.equal(1);
    await until(async () => (await scale.leaseCount()) === 0);
  });

  it('is counted once when the driver asks again', async () => {
    const scale = await rig.account('scale');
    const leases = await rig.replica({}, store);
    const lease = await leases.admit(scale.caller);
    proxy.lose('findAndModify', 1);
    expect(await leases.settle(lease)).to.equal(1);
    expect(proxy.lost()).to.equal(1);
    expect(await scale.usage()).to.equal(1);
  });

  it('is counted once when only the background hears of it', async () => {
    const scale = await rig.account('scale');
    const leases = await rig.replica({}, store);
    const lease = await leases.admit(scale.caller);
    proxy.lose('findAndModify', 3);
    expect(await leases.settle(lease)).to.equal(undefined);
    await until(() => leases.counts().waiting === 0);
    expect(proxy.lost()).to.equal(3);
    expect(await scale.usage()).to.equal(1);
    expect(await scale.leaseCount()).to.equal(0);
  });
});
