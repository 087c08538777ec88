import { expect } from 'chai';
import {
  type BillingFixture,
  billingFixture,
  type Customer,
  PRICES,
} from '../../support/console/billing-fixture.ts';
import { renderCall } from '../../support/http-call.ts';
import type { FakeSubscription } from '../../support/servers/stripe-world.ts';

describe('the lifecycle of a subscription', () => {
  let fixture: BillingFixture;
  let customer: Customer;
  let subscription: FakeSubscription;
  before(async () => {
    fixture = await billingFixture({ workers: 1, env: { PRESSROOM_PAST_DUE_GRACE: '168h' } });
    customer = await fixture.customer();
  });
  after(() => fixture.stop());

  const render = () => renderCall(fixture.api.port(), customer.key, { html: '<p>paid</p>' });
  const change = async (apply: () => void) => {
    apply();
    await fixture.deliverAll();
  };
  const state = async () => {
    const { plan, state } = await customer.read();
    return `${plan} ${state}`;
  };

  it('starts with one new customer and the purchased plan', async () => {
    expect((await render()).status).to.equal(200);
    subscription = await customer.buy('starter');
    expect(await state()).to.equal('starter active');
    const bought = fixture.stripe.world.customers.get(subscription.customer);
    expect(bought).to.deep.include({
      name: customer.name,
      email: customer.owner.email,
      metadata: { pressroom_account: customer.id },
    });
    expect(fixture.stripe.calls.filter(call => call === 'POST /v1/customers')).to.have.length(1);
  });

  it('changes the plan with its price', async () => {
    const page = new URL(await customer.checkout('growth'));
    expect(page.searchParams.get('flow_data[type]')).to.equal('subscription_update_confirm');
    expect(page.searchParams.get('flow_data[subscription_update_confirm][subscription]')).to.equal(
      subscription.id,
    );
    expect(
      page.searchParams.get('flow_data[subscription_update_confirm][items][0][price]'),
    ).to.equal(PRICES.growth);
    await change(() => fixture.stripe.world.changePrice(subscription, PRICES.growth));
    expect(await state()).to.equal('growth active');
    expect(
      (await customer.owner.good<{ plan: string }>('GET', `/accounts/${customer.id}/billing`)).plan,
    ).to.equal('growth');
  });

  it('allows renders in the grace period after a failed payment', async () => {
    await change(() => fixture.stripe.world.setStatus(subscription, 'past_due'));
    expect(await state()).to.equal('growth past_due');
    expect((await render()).status).to.equal(200);
    const { graceUntil } = await customer.owner.good<{ graceUntil: string }>(
      'GET',
      `/accounts/${customer.id}/billing`,
    );
    expect(
      new Date(graceUntil).getTime() - (await customer.read()).pastDueSince!.getTime(),
    ).to.equal(168 * 3600e3);
  });

  it('does not extend the grace period when another payment fails', async () => {
    const { pastDueSince } = await customer.read();
    await change(() => fixture.stripe.world.setStatus(subscription, 'past_due'));
    expect((await customer.read()).pastDueSince).to.deep.equal(pastDueSince);
  });

  it('rejects renders after the grace period', async () => {
    await fixture.store.accounts.updateOne(
      { _id: customer.id },
      { $set: { pastDueSince: new Date(Date.now() - 169 * 3600e3) } },
    );
    const answer = await render();
    expect(answer.status).to.equal(403);
    expect(answer.error()).to.include({ code: 'subscription_inactive' });
    expect(answer.error().message).to.include('past due').and.include('/app');
  });

  it('rejects renders while unpaid, and allows the next request after the payment', async () => {
    await change(() => fixture.stripe.world.setStatus(subscription, 'unpaid'));
    const error = (await render()).error();
    expect(error).to.include({ code: 'subscription_inactive' });
    expect(error.message).to.include('Update your payment method at');
    await change(() => fixture.stripe.world.setStatus(subscription, 'active'));
    expect((await render()).status).to.equal(200);
    expect(await customer.read()).to.not.have.property('pastDueSince');
  });

  it('allows renders until the end of the period after a cancellation, and rejects later ones', async () => {
    await change(() => fixture.stripe.world.cancelAtEnd(subscription));
    const { cancelAtPeriodEnd, periodEnd } = await customer.owner.good<{
      cancelAtPeriodEnd: boolean;
      periodEnd: string;
    }>('GET', `/accounts/${customer.id}/billing`);
    expect({ cancelAtPeriodEnd, periodEnd: Date.parse(periodEnd) / 1_000 }).to.deep.equal({
      cancelAtPeriodEnd: true,
      periodEnd: subscription.items.data[0]!.current_period_end,
    });
    expect((await render()).status).to.equal(200);
    await change(() => fixture.stripe.world.end(subscription));
    expect(await state()).to.equal('growth canceled');
    expect((await render()).error()).to.include({ code: 'subscription_inactive' });
    expect((await customer.read()).billing).to.not.have.any.keys('periodStart', 'periodEnd');
  });

  it('starts again with a new subscription of the same customer', async () => {
    const again = await customer.buy('starter');
    expect(again.customer).to.equal(subscription.customer);
    expect(await state()).to.equal('starter active');
    expect((await render()).status).to.equal(200);
  });

  it('adds one audit entry for each change of plan or state', async () => {
    const entries = await fixture.store.console.audit
      .find({ account: customer.id, actor: 'Stripe' })
      // One event can change plan and state within a millisecond.
      .sort({ at: 1, action: 1 })
      .toArray();
    const changes = entries.map(
      ({ action, details }) => `${action} ${details!['before']} ${details!['after']}`,
    );
    expect(changes).to.deep.equal([
      'billing.plan_changed free starter',
      'billing.plan_changed starter growth',
      'billing.state_changed active past_due',
      'billing.state_changed past_due unpaid',
      'billing.state_changed unpaid active',
      'billing.state_changed active canceled',
      'billing.plan_changed growth starter',
      'billing.state_changed canceled active',
    ]);
    expect(
      entries.every(entry => entry.target === customer.name && entry.user === undefined),
    ).to.equal(true);
  });
});
