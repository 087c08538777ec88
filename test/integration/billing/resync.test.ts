import { expect } from 'chai';
import { readApiConfig } from '../../../api/config.ts';
import { createResync } from '../../../api/console/billing/resync.ts';
import { StripePayments } from '../../../api/console/billing/stripe.ts';
import { createSync } from '../../../api/console/billing/sync.ts';
import { createAudit } from '../../../api/console/security/audit.ts';
import { silentLog } from '../../../common/log.ts';
import {
  type BillingFixture,
  billingFixture,
  type Customer,
} from '../../support/console/billing-fixture.ts';
import { consoleFixture } from '../../support/console/console-fixture.ts';
import { eventually } from '../../support/eventually.ts';
import { SECRET_KEY, WEBHOOK_SECRET } from '../../support/servers/stripe-fake.ts';
import type { FakeSubscription } from '../../support/servers/stripe-world.ts';

const YESTERDAY = () => new Date(Date.now() - 25 * 3600e3);

describe('the daily synchronization with the payment provider', () => {
  let fixture: BillingFixture;
  let customers: { customer: Customer; subscription: FakeSubscription }[];
  before(async () => {
    fixture = await billingFixture();
  });
  beforeEach(async () => {
    customers = [];
    for (let made = 0; made < 4; made += 1) {
      const customer = await fixture.customer();
      customers.push({ customer, subscription: await customer.buy('starter') });
    }
    fixture.stripe.calls.length = 0;
  });
  afterEach(() => fixture.store.accounts.deleteMany({ billing: { $exists: true } }));
  after(() => fixture.stop());

  const sync = () => {
    const { prices } = readApiConfig(fixture.env).billing.stripe;
    const payments = new StripePayments(
      { secretKey: SECRET_KEY, webhookSecret: WEBHOOK_SECRET, apiUrl: fixture.stripe.url },
      silentLog,
    );
    return createSync({
      store: fixture.store,
      payments,
      prices,
      audit: createAudit(fixture.store),
      log: silentLog,
    });
  };
  const resync = (by: Parameters<typeof createResync>[0]['sync'] = sync()) =>
    createResync({ store: fixture.store, sync: by, log: silentLog, times: { pauseMs: 0 } });
  const loseEvents = () => {
    for (const { subscription } of customers)
      fixture.stripe.world.setStatus(subscription, 'unpaid');
    fixture.stripe.world.takeEvents();
  };
  const makeDue = () =>
    fixture.store.accounts.updateMany(
      { billing: { $exists: true } },
      { $set: { 'billing.syncedAt': YESTERDAY() } },
    );
  const states = async () =>
    Promise.all(customers.map(async ({ customer }) => (await customer.read()).state));
  const unpaid = ['unpaid', 'unpaid', 'unpaid', 'unpaid'];

  it('corrects an account after a lost event, once a day', async () => {
    loseEvents();
    await makeDue();
    expect(await resync().round()).to.equal(4);
    expect(await states()).to.deep.equal(unpaid);
    expect(await resync().round()).to.equal(0);
  });

  it('skips an account that was synchronized today', async () => {
    loseEvents();
    expect(await resync().round()).to.equal(0);
    expect(fixture.stripe.calls).to.deep.equal([]);
  });

  it('finds a subscription whose events were all lost', async () => {
    const { id, checkout, read } = await fixture.customer();
    fixture.stripe.world.pay(await checkout('growth'));
    fixture.stripe.world.takeEvents();
    await fixture.store.accounts.updateOne(
      { _id: id },
      { $set: { 'billing.syncedAt': YESTERDAY() } },
    );
    expect(await resync().round()).to.equal(1);
    expect(await read()).to.include({ plan: 'growth' });
  });

  it('synchronizes each account once when several processes run a round', async () => {
    loseEvents();
    await makeDue();
    const rounds = await Promise.all([resync().round(), resync().round(), resync().round()]);
    expect(rounds.reduce((sum, synchronized) => sum + synchronized, 0)).to.equal(4);
    expect(fixture.stripe.calls).to.deep.equal(
      Array.from({ length: 4 }, () => 'GET /v1/subscriptions'),
    );
    expect(await states()).to.deep.equal(unpaid);
  });

  it('ends a round after three failures in a row, and keeps these accounts claimed', async () => {
    await makeDue();
    const failing = {
      account: async () => Promise.reject(new Error('the provider is unavailable')),
    };
    expect(await resync(failing).round()).to.equal(0);
    expect(await resync().round()).to.equal(1);
    await fixture.store.accounts.updateMany(
      { billing: { $exists: true } },
      { $set: { 'billing.claimedUntil': YESTERDAY() } },
    );
    expect(await resync().round()).to.equal(3);
  });

  it('runs at the start of every API process', async () => {
    loseEvents();
    await makeDue();
    const another = await consoleFixture({ workers: 0, uri: fixture.uri, env: fixture.env });
    try {
      // One account at a time, two per second.
      await eventually(async () => expect(await states()).to.deep.equal(unpaid));
    } finally {
      expect(await another.stop()).to.equal(true);
    }
  });

  it('stops at once with its process', async () => {
    await makeDue();
    const service = createResync({
      store: fixture.store,
      sync: sync(),
      log: silentLog,
      times: { pauseMs: 3600e3 },
    });
    await service.start();
    await eventually(() => expect(fixture.stripe.calls).to.have.length(1));
    await service.stop(new AbortController().signal);
    expect(fixture.stripe.calls).to.have.length(1);
  });
});
