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

describe('events of the payment provider', () => {
  let fixture: BillingFixture;
  let customer: Customer;
  let subscription: FakeSubscription;
  before(async () => {
    fixture = await billingFixture();
  });
  beforeEach(async () => {
    customer = await fixture.customer();
    subscription = await customer.buys('starter');
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
  const eventsOf = (what: () => void) => {
    what();
    return fixture.stripe.world.takeEvents();
  };
  const state = async () => (await customer.read()).state;
  const asked = () => fixture.stripe.calls.filter(call => call === 'GET /v1/subscriptions').length;

  it('change nothing when they come a second time, and are answered as the first', async () => {
    const [event] = eventsOf(() => fixture.stripe.world.becomes(subscription, 'unpaid'));
    expect((await deliver(event!)).status).to.equal(200);
    const { billing } = await customer.read();
    expect(asked()).to.equal(1);
    expect((await deliver(event!)).status).to.equal(200);
    expect(asked()).to.equal(1);
    expect((await customer.read()).billing!.revision).to.equal(billing!.revision);
  });

  it('lead to the newest state in whatever order they come', async () => {
    const events = [
      ...eventsOf(() => fixture.stripe.world.becomes(subscription, 'past_due')),
      ...eventsOf(() => fixture.stripe.world.becomes(subscription, 'unpaid')),
      ...eventsOf(() => fixture.stripe.world.becomes(subscription, 'active')),
    ];
    for (const event of events.reverse()) {
      expect((await deliver(event)).status).to.equal(200);
      expect(await state()).to.equal('active');
    }
  });

  it('do not let an older answer of the provider replace a newer one', async () => {
    const [older] = eventsOf(() => fixture.stripe.world.becomes(subscription, 'unpaid'));
    const late = Promise.withResolvers<void>();
    const made = Promise.withResolvers<void>();
    let first = true;
    fixture.stripe.beforeAnswer = call => {
      if (call !== 'GET /v1/subscriptions' || !first) return;
      first = false;
      made.resolve();
      return late.promise;
    };
    const slow = deliver(older!);
    await made.promise; // the answer says unpaid, and is on its way
    const [newer] = eventsOf(() => fixture.stripe.world.becomes(subscription, 'active'));
    expect((await deliver(newer!)).status).to.equal(200);
    late.resolve();
    expect((await slow).status).to.equal(200);
    expect(await state()).to.equal('active');
    expect(asked()).to.equal(3); // the slow one asked once more
  });

  it('are all taken when many come at once', async () => {
    const events = Array.from({ length: 5 }, () =>
      eventsOf(() => fixture.stripe.world.becomes(subscription, 'past_due')),
    ).flat();
    const answers = await Promise.all(events.map(event => deliver(event)));
    expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([200]));
    expect(await state()).to.equal('past_due');
    const told = await fixture.store.console.audit.countDocuments({
      account: customer.id,
      action: 'billing.state_changed',
    });
    expect(told).to.equal(1);
  });

  it('are not lost when the process ends between the account’s write and the event’s', async () => {
    const [event] = eventsOf(() => fixture.stripe.world.becomes(subscription, 'unpaid'));
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

  it('are answered 503 and not remembered while the provider is away, so that they are sent again', async () => {
    const [event] = eventsOf(() => fixture.stripe.world.becomes(subscription, 'unpaid'));
    fixture.stripe.trouble = 'cut';
    const answer = await deliver(event!);
    expect(answer.status).to.equal(503);
    expect(answer.error()).to.include({ code: 'unavailable' });
    expect(await state()).to.equal('active');
    fixture.stripe.trouble = 'none';
    expect((await deliver(event!)).status).to.equal(200);
    expect(await state()).to.equal('unpaid');
  });

  it('of customers that are nobody’s, and of other kinds, are answered 200', async () => {
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
    expect(asked()).to.equal(0);
  });

  it('of something else that the customer bought change nothing', async () => {
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

  it('with a status that nobody knows keep the last known state', async () => {
    for (const event of eventsOf(() => fixture.stripe.world.becomes(subscription, 'dormant')))
      expect((await deliver(event)).status).to.equal(200);
    expect(await state()).to.equal('active');
  });

  it('with a price that nobody knows keep the plan', async () => {
    for (const event of eventsOf(() =>
      fixture.stripe.world.changePrice(subscription, 'price_forgotten'),
    ))
      expect((await deliver(event)).status).to.equal(200);
    expect(await customer.read()).to.include({ state: 'active', plan: 'starter' });
  });

  it('change nothing when Stripe suddenly knows nobody, as with the key of another company', async () => {
    const [event] = eventsOf(() => fixture.stripe.world.becomes(subscription, 'active'));
    fixture.stripe.world.customers.delete(subscription.customer);
    expect((await deliver(event!)).status).to.equal(200);
    expect(await customer.read()).to.include({ state: 'active', plan: 'starter' });
  });

  it('leave an account paused that the operator has suspended', async () => {
    await fixture.accounts.setAccount(customer.name, { state: 'paused' });
    for (const event of eventsOf(() => fixture.stripe.world.becomes(subscription, 'active')))
      expect((await deliver(event)).status).to.equal(200);
    expect(await state()).to.equal('paused');
    await fixture.accounts.setAccount(customer.name, { state: 'active' });
    expect(await state()).to.equal('active');
  });

  it('let the operator decide nothing while there is a subscription, and leave alone what is decided after its end', async () => {
    const refused = await fixture.accounts.setAccount(customer.name, { plan: 'scale' }).then(
      () => expect.fail('it was changed'),
      (error: { code: string }) => error,
    );
    expect(refused).to.include({ code: 'conflict' });
    for (const event of eventsOf(() => fixture.stripe.world.ends(subscription)))
      expect((await deliver(event)).status).to.equal(200);
    await fixture.accounts.setAccount(customer.name, { plan: 'scale', state: 'active' });
    for (const event of eventsOf(() => fixture.stripe.world.ends(subscription)))
      expect((await deliver(event)).status).to.equal(200);
    expect(await customer.read()).to.include({ plan: 'scale', state: 'active' });
  });

  it('make an account that was suspended meanwhile what they told, once it is resumed', async () => {
    await fixture.accounts.setAccount(customer.name, { state: 'paused' });
    for (const event of eventsOf(() => fixture.stripe.world.ends(subscription)))
      expect((await deliver(event)).status).to.equal(200);
    expect(await state()).to.equal('paused');
    await fixture.accounts.setAccount(customer.name, { state: 'active' });
    expect(await state()).to.equal('canceled');
  });

  describe('of a doubtful sender are refused with one sentence that does not tell why:', () => {
    const [refused, what] = [400, 'The signature of the event is not valid.'];
    const unpaid = () => eventsOf(() => fixture.stripe.world.becomes(subscription, 'unpaid'))[0]!;
    const check = async (answer: Awaited<ReturnType<typeof deliver>>) => {
      expect(answer.status).to.equal(refused);
      expect(answer.error()).to.include({ code: 'validation_error', message: what });
      expect(await state()).to.equal('active');
      expect(asked()).to.equal(0);
    };

    it('another secret', async () =>
      check(await deliver(unpaid(), { secret: 'whsec_of_somebody_else' })));

    it('a time six minutes ago', async () =>
      check(await deliver(unpaid(), { timestamp: nowS() - 360 })));

    it('a body that is not the signed one', async () => {
      const event = unpaid();
      await check(await deliver(event, { body: JSON.stringify({ ...event, id: 'evt_other' }) }));
    });

    it('no signature', async () => {
      const body = JSON.stringify(unpaid());
      await check(
        await httpCall(
          fixture.api.port(),
          'POST',
          WEBHOOK_PATH,
          { 'content-type': 'application/json' },
          body,
        ),
      );
    });

    it('a signed body that is no event', async () => check(await deliver('nothing' as never)));
  });

  it('are taken four minutes late', async () => {
    const [event] = eventsOf(() => fixture.stripe.world.becomes(subscription, 'unpaid'));
    expect((await deliver(event!, { timestamp: nowS() - 240 })).status).to.equal(200);
    expect(await state()).to.equal('unpaid');
  });

  it('larger than the limit are refused without being read to their end', async () => {
    const [event] = eventsOf(() => fixture.stripe.world.becomes(subscription, 'unpaid'));
    const answer = await deliver(event!, { body: 'x'.repeat(2 ** 20 + 1) });
    expect(answer.status).to.equal(400);
    expect(answer.error()).to.include({ code: 'payload_too_large' });
  });

  it('are read by this path alone and by this method alone', async () => {
    expect((await httpCall(fixture.api.port(), 'GET', WEBHOOK_PATH)).status).to.equal(405);
  });
});
