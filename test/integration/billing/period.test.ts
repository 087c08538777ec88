import { expect } from 'chai';
import { parsePlans } from '../../../api/accounts/plans.ts';
import { type LeaseOperations, leaseOperations } from '../../../api/leases/lease-operations.ts';
import { LEASE_TIMES } from '../../../api/leases/mongo-leases.ts';
import {
  type BillingFixture,
  billingFixture,
  type Customer,
} from '../../support/console/billing-fixture.ts';
import type { FakeSubscription } from '../../support/servers/stripe-world.ts';

const DAY_MS = 86_400e3;
const daysFromNow = (days: number) =>
  new Date(Math.floor(Date.now() / 1_000) * 1_000 + days * DAY_MS);
const dayOf = (date: Date) => date.toISOString().slice(0, 10);
const monthNow = () => new Date().toISOString().slice(0, 7);

describe('the billing period', () => {
  let fixture: BillingFixture;
  let operations: LeaseOperations;
  let customer: Customer;
  let subscription: FakeSubscription;
  before(async () => {
    fixture = await billingFixture();
    operations = leaseOperations(fixture.store, {
      plans: parsePlans([]),
      pastDueGraceMs: 0,
      billing: 'manual',
      ...LEASE_TIMES,
    });
  });
  beforeEach(async () => {
    customer = await fixture.customer();
    subscription = await customer.buy('growth');
  });
  after(() => fixture.stop());

  let leases = 0;
  /** Settles the lease of one render. Returns the usage after it. */
  async function settleRender(): Promise<number | undefined> {
    leases += 1;
    const lease = { id: `lease ${leases}`, key: 'key', expires: new Date(Date.now() + DAY_MS) };
    await fixture.store.accounts.updateOne({ _id: customer.id }, { $push: { leases: lease } });
    return (await operations.settle(customer.id, lease.id)) as number | undefined;
  }
  const usage = async () => (await customer.read()).usage;
  const set = (fields: object) =>
    fixture.store.accounts.updateOne({ _id: customer.id }, { $set: fields });
  /** The usage in the lists of accounts: an older period counts as zero. */
  const shown = async () => (await fixture.accounts.accountById(customer.id)).usage;
  const receivePeriod = async (start: Date, end: Date) => {
    fixture.stripe.world.setPeriod(subscription, start, end);
    await fixture.deliverAll();
  };

  it('is the period of the subscription', async () => {
    await set({ usage: { period: '2001-01', count: 41 } });
    const start = daysFromNow(-10);
    await receivePeriod(start, daysFromNow(20));
    expect(await shown()).to.equal(0);
    expect(await settleRender()).to.equal(1);
    expect(await usage()).to.deep.equal({ period: dayOf(start), count: 1 });
    expect(await shown()).to.equal(1);
  });

  it('starts again at its end, and keeps counting when Stripe’s event arrives late', async () => {
    const [start, end] = [daysFromNow(-30), daysFromNow(0)];
    await set({ usage: { period: dayOf(start), count: 41 } });
    await receivePeriod(start, end);
    expect(await shown()).to.equal(0);
    expect(await settleRender()).to.equal(1);
    expect(await settleRender()).to.equal(2);
    await receivePeriod(end, daysFromNow(30));
    expect(await shown()).to.equal(2);
    expect(await settleRender()).to.equal(3);
    expect(await usage()).to.deep.equal({ period: dayOf(end), count: 3 });
  });

  it('counts each render once while Stripe’s event of the next period arrives', async () => {
    const [start, end] = [daysFromNow(-30), daysFromNow(0)];
    await set({ usage: { period: dayOf(start), count: 41 } });
    await receivePeriod(start, end);
    const counts = Promise.all(Array.from({ length: 20 }, settleRender));
    await receivePeriod(end, daysFromNow(30));
    expect([...(await counts)].sort((one, other) => one! - other!)).to.deep.equal(
      Array.from({ length: 20 }, (_, index) => index + 1),
    );
    expect(await usage()).to.deep.equal({ period: dayOf(end), count: 20 });
  });

  it('starts with Stripe’s event when the database’s clock is behind', async () => {
    const [start, next] = [daysFromNow(-30), daysFromNow(1)];
    await set({ usage: { period: dayOf(start), count: 41 } });
    await receivePeriod(next, daysFromNow(31));
    expect(await settleRender()).to.equal(1);
    expect(await usage()).to.deep.equal({ period: dayOf(next), count: 1 });
  });

  it('does not move back when a subscription ends', async () => {
    fixture.stripe.world.end(subscription);
    await fixture.deliverAll();
    await set({ usage: { period: '2999-01-15', count: 41 } });
    expect(await settleRender()).to.equal(42);
    expect(await usage()).to.deep.equal({ period: '2999-01-15', count: 42 });
  });

  it('is the calendar month after a subscription has ended', async () => {
    await set({ usage: { period: '2001-01-15', count: 41 } });
    fixture.stripe.world.end(subscription);
    await fixture.deliverAll();
    expect(await shown()).to.equal(0);
    const month = monthNow();
    expect(await settleRender()).to.equal(1);
    expect((await usage()).period).to.be.oneOf([month, monthNow()]);
  });

  it('is the calendar month when events of renewals are missing for weeks', async () => {
    await set({ usage: { period: '2001-01-15', count: 41 } });
    await receivePeriod(daysFromNow(-70), daysFromNow(-40));
    expect(await settleRender()).to.equal(1);
    expect((await usage()).period).to.match(/^\d{4}-\d{2}$/);
  });
});
