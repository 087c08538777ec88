import { expect } from 'chai';
import {
  type BillingFixture,
  billingFixture,
  type Customer,
} from '../../support/console/billing-fixture.ts';
import { httpCall } from '../../support/http-call.ts';
import { WEBHOOK_PATH } from '../../support/servers/stripe-fake.ts';
import type { FakeSubscription } from '../../support/servers/stripe-world.ts';

const nowS = () => Math.floor(Date.now() / 1_000);

describe('the webhook of the payment provider', () => {
  let fixture: BillingFixture;
  let customer: Customer;
  let subscription: FakeSubscription;
  before(async () => {
    fixture = await billingFixture();
  });
  beforeEach(async () => {
    customer = await fixture.customer();
    subscription = await customer.buy('starter');
    fixture.stripe.calls.length = 0;
  });
  afterEach(() => {
    fixture.stripe.beforeAnswer = () => undefined;
    fixture.stripe.trouble = 'none';
  });
  after(() => fixture.stop());

  const deliver = (
    ...of: Parameters<BillingFixture['stripe']['deliver']> extends [number, ...infer Rest]
      ? Rest
      : never
  ) => fixture.stripe.deliver(fixture.api.port(), ...of);
  const eventsOf = (change: () => void) => {
    change();
    return fixture.stripe.world.takeEvents();
  };
  const state = async () => (await customer.read()).state;
  const reads = () => fixture.stripe.calls.filter(call => call === 'GET /v1/subscriptions').length;

  it('responds 200 to a repeated event without reading the subscription again', async () => {
    const [event] = eventsOf(() => fixture.stripe.world.setStatus(subscription, 'unpaid'));
    expect((await deliver(event!)).status).to.equal(200);
    const { billing } = await customer.read();
    expect(reads()).to.equal(1);
    expect((await deliver(event!)).status).to.equal(200);
    expect(reads()).to.equal(1);
    expect((await customer.read()).billing!.revision).to.equal(billing!.revision);
  });

  it('stores the newest state whatever the order of the events', async () => {
    const events = [
      ...eventsOf(() => fixture.stripe.world.setStatus(subscription, 'past_due')),
      ...eventsOf(() => fixture.stripe.world.setStatus(subscription, 'unpaid')),
      ...eventsOf(() => fixture.stripe.world.setStatus(subscription, 'active')),
    ];
    for (const event of events.reverse()) {
      expect((await deliver(event)).status).to.equal(200);
      expect(await state()).to.equal('active');
    }
  });

  it('does not replace a newer state with an older response of the provider', async () => {
    const [older] = eventsOf(() => fixture.stripe.world.setStatus(subscription, 'unpaid'));
    const late = Promise.withResolvers<void>();
    const sent = Promise.withResolvers<void>();
    let first = true;
    fixture.stripe.beforeAnswer = call => {
      if (call !== 'GET /v1/subscriptions' || !first) return;
      first = false;
      sent.resolve();
      return late.promise;
    };
    const slow = deliver(older!);
    await sent.promise; // the response has the status unpaid, and is delayed
    const [newer] = eventsOf(() => fixture.stripe.world.setStatus(subscription, 'active'));
    expect((await deliver(newer!)).status).to.equal(200);
    late.resolve();
    expect((await slow).status).to.equal(200);
    expect(await state()).to.equal('active');
    expect(reads()).to.equal(3); // the slow one read again
  });

  it('handles concurrent events of one customer', async () => {
    const events = Array.from({ length: 5 }, () =>
      eventsOf(() => fixture.stripe.world.setStatus(subscription, 'past_due')),
    ).flat();
    const answers = await Promise.all(events.map(event => deliver(event)));
    expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([200]));
    expect(await state()).to.equal('past_due');
    const entries = await fixture.store.console.audit.countDocuments({
      account: customer.id,
      action: 'billing.state_changed',
    });
    expect(entries).to.equal(1);
  });

  it('handles a resent event when the process ended before the event was stored', async () => {
    const [event] = eventsOf(() => fixture.stripe.world.setStatus(subscription, 'unpaid'));
    const { collectionName } = fixture.store.console.billingEvents;
    const command = (validator: object) =>
      fixture.store.console.billingEvents.db.command({ collMod: collectionName, validator });
    await command({ nothing: 'fits' });
    try {
      expect((await deliver(event!)).status).to.equal(500);
    } finally {
      await command({});
    }
    expect(await state()).to.equal('unpaid');
    expect((await deliver(event!)).status).to.equal(200);
    expect(await fixture.store.console.billingEvents.countDocuments({ _id: event!.id })).to.equal(
      1,
    );
    expect(
      await fixture.store.console.audit.countDocuments({
        account: customer.id,
        action: 'billing.state_changed',
      }),
    ).to.equal(1);
  });

  it('responds 503 while the provider is unavailable, and handles the resent event', async () => {
    const [event] = eventsOf(() => fixture.stripe.world.setStatus(subscription, 'unpaid'));
    fixture.stripe.trouble = 'cut';
    const answer = await deliver(event!);
    expect(answer.status).to.equal(503);
    expect(answer.error()).to.include({ code: 'unavailable' });
    expect(await state()).to.equal('active');
    fixture.stripe.trouble = 'none';
    expect((await deliver(event!)).status).to.equal(200);
    expect(await state()).to.equal('unpaid');
  });

  it('responds 200 to events of unknown customers and of other types', async () => {
    const stranger = fixture.stripe.world.createCustomer({});
    for (const event of eventsOf(() =>
      fixture.stripe.world.subscribe(stranger.id, 'price_of_something_else', {}),
    ))
      expect((await deliver(event)).status).to.equal(200);
    const payout = {
      id: 'evt_payout',
      object: 'event' as const,
      type: 'payout.paid',
      created: nowS(),
      data: { object: { id: 'po_1' } },
    };
    expect((await deliver(payout)).status).to.equal(200);
    expect(reads()).to.equal(0);
  });

  it('ignores another product that the customer bought', async () => {
    for (const event of eventsOf(() =>
      fixture.stripe.world.subscribe(
        subscription.customer,
        'price_of_something_else',
        {},
        'unpaid',
      ),
    ))
      expect((await deliver(event)).status).to.equal(200);
    expect(await customer.read()).to.include({ state: 'active', plan: 'starter' });
  });

  it('keeps the state for an unknown status', async () => {
    for (const event of eventsOf(() => fixture.stripe.world.setStatus(subscription, 'dormant')))
      expect((await deliver(event)).status).to.equal(200);
    expect(await state()).to.equal('active');
  });

  it('keeps the plan for an unknown price', async () => {
    for (const event of eventsOf(() =>
      fixture.stripe.world.changePrice(subscription, 'price_forgotten'),
    ))
      expect((await deliver(event)).status).to.equal(200);
    expect(await customer.read()).to.include({ state: 'active', plan: 'starter' });
  });

  it('keeps state and plan when the customer is unknown to Stripe, as with a wrong secret key', async () => {
    const [event] = eventsOf(() => fixture.stripe.world.setStatus(subscription, 'active'));
    fixture.stripe.world.customers.delete(subscription.customer);
    expect((await deliver(event!)).status).to.equal(200);
    expect(await customer.read()).to.include({ state: 'active', plan: 'starter' });
  });

  it('does not resume an account that the operator has suspended', async () => {
    await fixture.accounts.setAccount(customer.name, { state: 'paused' });
    for (const event of eventsOf(() => fixture.stripe.world.setStatus(subscription, 'active')))
      expect((await deliver(event)).status).to.equal(200);
    expect(await state()).to.equal('paused');
    await fixture.accounts.setAccount(customer.name, { state: 'active' });
    expect(await state()).to.equal('active');
  });

  it('rejects changes by the operator during a subscription, and keeps those made after its end', async () => {
    const error = await fixture.accounts.setAccount(customer.name, { plan: 'scale' }).then(
      () => expect.fail('the plan was changed'),
      (thrown: { code: string }) => thrown,
    );
    expect(error).to.include({ code: 'conflict' });
    for (const event of eventsOf(() => fixture.stripe.world.end(subscription)))
      expect((await deliver(event)).status).to.equal(200);
    await fixture.accounts.setAccount(customer.name, { plan: 'scale', state: 'active' });
    for (const event of eventsOf(() => fixture.stripe.world.end(subscription)))
      expect((await deliver(event)).status).to.equal(200);
    expect(await customer.read()).to.include({ plan: 'scale', state: 'active' });
  });

  it('applies the state of a suspended account’s subscription when the account is resumed', async () => {
    await fixture.accounts.setAccount(customer.name, { state: 'paused' });
    for (const event of eventsOf(() => fixture.stripe.world.end(subscription)))
      expect((await deliver(event)).status).to.equal(200);
    expect(await state()).to.equal('paused');
    await fixture.accounts.setAccount(customer.name, { state: 'active' });
    expect(await state()).to.equal('canceled');
  });

  describe('rejects with the same message', () => {
    const message = 'The signature of the event is invalid.';
    const unpaid = () => eventsOf(() => fixture.stripe.world.setStatus(subscription, 'unpaid'))[0]!;
    const expectRejected = async (answer: Awaited<ReturnType<typeof deliver>>) => {
      expect(answer.status).to.equal(400);
      expect(answer.error()).to.include({ code: 'validation_error', message });
      expect(await state()).to.equal('active');
      expect(reads()).to.equal(0);
    };

    it('an event signed with another secret', async () =>
      expectRejected(await deliver(unpaid(), { secret: 'whsec_of_another_account' })));

    it('an event signed six minutes ago', async () =>
      expectRejected(await deliver(unpaid(), { timestamp: nowS() - 360 })));

    it('a body that differs from the signed one', async () => {
      const event = unpaid();
      await expectRejected(
        await deliver(event, { body: JSON.stringify({ ...event, id: 'evt_other' }) }),
      );
    });

    it('an event without a signature', async () => {
      const body = JSON.stringify(unpaid());
      await expectRejected(
        await httpCall(
          fixture.api.port(),
          'POST',
          WEBHOOK_PATH,
          { 'content-type': 'application/json' },
          body,
        ),
      );
    });

    it('a signed body that is not an event', async () =>
      expectRejected(await deliver('nothing' as never)));
  });

  it('accepts an event signed four minutes ago', async () => {
    const [event] = eventsOf(() => fixture.stripe.world.setStatus(subscription, 'unpaid'));
    expect((await deliver(event!, { timestamp: nowS() - 240 })).status).to.equal(200);
    expect(await state()).to.equal('unpaid');
  });

  it('rejects an event larger than the limit before reading it to the end', async () => {
    const [event] = eventsOf(() => fixture.stripe.world.setStatus(subscription, 'unpaid'));
    const answer = await deliver(event!, { body: 'x'.repeat(2 ** 20 + 1) });
    expect(answer.status).to.equal(400);
    expect(answer.error()).to.include({ code: 'payload_too_large' });
  });

  it('responds 405 to GET', async () => {
    expect((await httpCall(fixture.api.port(), 'GET', WEBHOOK_PATH)).status).to.equal(405);
  });
});
