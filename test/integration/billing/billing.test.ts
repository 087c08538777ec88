// @proves forbidden, conflict, unavailable

import { expect } from 'chai';
import { complete } from '../../../api/api.ts';
import { readApiConfig } from '../../../api/config.ts';
import { StripePayments } from '../../../api/console/billing/stripe.ts';
import { silentLog } from '../../../common/log.ts';
import {
  type BillingFixture,
  billingFixture,
  PRICES,
} from '../../support/console/billing-fixture.ts';
import { type ConsoleFixture, consoleFixture } from '../../support/console/console-fixture.ts';
import { SECRET_KEY, stripeFake, WEBHOOK_SECRET } from '../../support/servers/stripe-fake.ts';

type Shown = {
  mode: string;
  notice: string | null;
  canManage: boolean;
  plans: {
    name: string;
    title: string | null;
    price: string | null;
    sold: boolean;
    current: boolean;
  }[];
};

describe('billing by Stripe', () => {
  let fixture: BillingFixture;
  before(async () => {
    fixture = await billingFixture();
  });
  afterEach(() => {
    fixture.stripe.trouble = 'none';
    fixture.stripe.beforeAnswer = () => undefined;
  });
  after(() => fixture.stop());

  it('shows the title and price of each plan, and marks the current one', async () => {
    const { owner, id } = await fixture.customer('starter');
    const shown = await owner.good<Shown>('GET', `/accounts/${id}/billing`);
    expect(shown).to.include({ mode: 'stripe', notice: null, canManage: false });
    const [free, starter, growth, scale] = shown.plans;
    expect(free).to.include({
      name: 'free',
      title: null,
      price: null,
      sold: false,
      current: false,
    });
    expect(starter).to.include({
      name: 'starter',
      title: 'Starter',
      price: '€19.00 / month',
      sold: true,
      current: true,
    });
    expect(growth).to.include({ name: 'growth', price: '€49.00 / month', sold: true });
    expect(scale).to.include({ name: 'scale', sold: false });
  });

  it('opens a checkout for the account and the price', async () => {
    const { checkout, id } = await fixture.customer();
    const before = fixture.stripe.world.checkouts.length;
    const url = await checkout('growth');
    expect(fixture.stripe.world.checkouts.slice(before)).to.have.length(1);
    expect(fixture.stripe.world.checkouts.at(-1)).to.deep.include({
      url,
      price: PRICES.growth,
      metadata: { pressroom_account: id },
    });
  });

  it('expires the previous checkout, so that no plan is bought twice', async () => {
    const { checkout } = await fixture.customer();
    const before = await checkout('starter');
    const after = await checkout('growth');
    expect(() => fixture.stripe.world.pay(before)).to.throw('expired');
    expect(fixture.stripe.world.pay(after).status).to.equal('active');
    await fixture.deliverAll();
  });

  it('creates one customer for two concurrent checkouts', async () => {
    const { id, owner, read } = await fixture.customer();
    const other = await fixture.createUser({ role: 'billing', account: id });
    const customers = fixture.stripe.world.customers.size;
    const answers = await Promise.all(
      [owner, other].map(person =>
        person.call('POST', `/accounts/${id}/billing/checkout`, { plan: 'starter' }),
      ),
    );
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200]);
    expect(fixture.stripe.world.customers.size).to.equal(customers + 1);
    expect(fixture.stripe.world.customers.get((await read()).billing!.customer)).to.have.property(
      'email',
    );
  });

  it('creates a new customer when Stripe no longer has the stored one', async () => {
    const { id, owner, checkout, buy, read } = await fixture.customer();
    await checkout('starter');
    const { customer: lost } = (await read()).billing!;
    fixture.stripe.world.customers.delete(lost);
    const portal = await owner.call('POST', `/accounts/${id}/billing/portal`);
    expect(portal.error()).to.include({ code: 'conflict' });
    expect(portal.error().message).to.include('Choose a plan');
    await buy('growth');
    expect(await read()).to.include({ plan: 'growth' });
    expect((await read()).billing!.customer).to.not.equal(lost);
  });

  it('shows the new plan after the payment, before its event arrives', async () => {
    const { checkout, id, owner, read } = await fixture.customer();
    fixture.stripe.world.pay(await checkout('growth'));
    await fixture.store.accounts.updateOne(
      { _id: id },
      { $set: { 'billing.syncedAt': new Date(Date.now() - 60_000) } },
    );
    expect(
      (await owner.good<Shown>('GET', `/accounts/${id}/billing`)).plans.find(
        ({ current }) => current,
      )!.name,
    ).to.equal('growth');
    expect(await read()).to.include({ plan: 'growth', state: 'active' });
    await fixture.deliverAll();
  });

  it('opens the portal for an account with a customer', async () => {
    const { id, owner, buy, read } = await fixture.customer();
    const early = await owner.call('POST', `/accounts/${id}/billing/portal`);
    expect(early.status).to.equal(409);
    await buy('starter');
    const { url } = await owner.good<{ url: string }>('POST', `/accounts/${id}/billing/portal`);
    expect(new URL(url).searchParams.get('customer')).to.equal((await read()).billing!.customer);
    expect(new URL(url).searchParams.get('return_url')).to.equal(
      'http://localhost:8080/app/billing',
    );
    expect((await owner.good<Shown>('GET', `/accounts/${id}/billing`)).canManage).to.equal(true);
  });

  for (const [what, plan, status, message] of [
    ['a plan that is not for sale', 'scale', 400, 'starter, growth'],
    ['the current plan', 'starter', 409, 'already on this plan'],
  ] as const)
    it(`rejects a checkout of ${what}`, async () => {
      const { id, owner, buy } = await fixture.customer();
      await buy('starter');
      const answer = await owner.call('POST', `/accounts/${id}/billing/checkout`, { plan });
      expect(answer.status).to.equal(status);
      expect(answer.error().message).to.include(message);
    });

  it('rejects a change of the plan while a payment is open', async () => {
    const { id, owner, buy } = await fixture.customer();
    fixture.stripe.world.setStatus(await buy('starter'), 'unpaid');
    await fixture.deliverAll();
    const answer = await owner.call('POST', `/accounts/${id}/billing/checkout`, { plan: 'growth' });
    expect(answer.status).to.equal(409);
    expect(answer.error().message).to.include('Pay the open invoice');
  });

  it('rejects a checkout of a suspended account', async () => {
    const { id, owner, name } = await fixture.customer();
    await fixture.accounts.setAccount(name, { state: 'paused' });
    const answer = await owner.call('POST', `/accounts/${id}/billing/checkout`, { plan: 'growth' });
    expect(answer.status).to.equal(409);
    expect(answer.error().message).to.include('suspended');
  });

  it('responds 503 and stores nothing when Stripe does not respond', async () => {
    const { id, owner, read } = await fixture.customer();
    fixture.stripe.trouble = 'cut';
    const answer = await owner.call('POST', `/accounts/${id}/billing/checkout`, { plan: 'growth' });
    expect(answer.status).to.equal(503);
    expect(answer.error()).to.include({ code: 'unavailable' });
    expect(await read()).to.not.have.property('billing');
  });

  it('does not show Stripe’s message about an invalid secret key', async () => {
    const { id, owner } = await fixture.customer();
    fixture.stripe.trouble = 'unauthorized';
    const answer = await owner.call('POST', `/accounts/${id}/billing/checkout`, { plan: 'growth' });
    expect(answer.status).to.equal(503);
    expect(answer.body.toString()).to.not.include('sk_');
  });

  it('allows payments by owners and the billing role only', async () => {
    const { id } = await fixture.customer();
    for (const [role, reads, pays] of [
      ['owner', 200, 200],
      ['admin', 200, 403],
      ['developer', 403, 403],
      ['billing', 200, 200],
      ['viewer', 403, 403],
    ] as const) {
      const person = await fixture.createUser({ role, account: id });
      expect((await person.call('GET', `/accounts/${id}/billing`)).status, role).to.equal(reads);
      expect(
        (await person.call('POST', `/accounts/${id}/billing/checkout`, { plan: 'growth' })).status,
        role,
      ).to.equal(pays);
    }
  });

  it('adds audit entries for a checkout and for the portal', async () => {
    const { id, owner, checkout } = await fixture.customer();
    await checkout('growth');
    await owner.good('POST', `/accounts/${id}/billing/portal`);
    const entries = await fixture.store.console.audit
      .find({ account: id })
      .sort({ at: 1 })
      .toArray();
    expect(entries.map(({ action, target, actor }) => ({ action, target, actor }))).to.deep.equal([
      { action: 'billing.checkout_opened', target: 'growth', actor: owner.email },
      { action: 'billing.portal_opened', target: undefined, actor: owner.email },
    ]);
  });
});

describe('billing by Stripe that is unavailable from the start', () => {
  let fixture: BillingFixture;
  before(async () => {
    fixture = await billingFixture();
    fixture.stripe.trouble = 'cut';
  });
  after(() => fixture.stop());

  it('shows plan and state without prices, and a notice', async () => {
    const { id, owner } = await fixture.customer('starter');
    const shown = await owner.good<Shown>('GET', `/accounts/${id}/billing`);
    expect(shown.notice).to.include('not responding');
    expect(shown.plans.find(({ current }) => current)).to.include({
      name: 'starter',
      price: null,
      sold: true,
    });
  });
});

describe('a call to Stripe', () => {
  it('fails after two retries when Stripe does not respond', async () => {
    const stripe = await stripeFake();
    try {
      stripe.trouble = 'silent';
      const access = {
        secretKey: SECRET_KEY,
        webhookSecret: WEBHOOK_SECRET,
        apiUrl: stripe.url,
        callMs: 50,
      };
      const error = await new StripePayments(access, silentLog).subscriptionsOf('cus_1').then(
        () => expect.fail('the call succeeded'),
        (thrown: unknown) => thrown,
      );
      expect(error).to.include({ code: 'unavailable', status: 503 });
      expect(stripe.calls).to.have.length(3);
    } finally {
      await stripe.close();
    }
  });
});

describe('an installation without payments', () => {
  for (const [mode, state, rejected] of [
    ['none', 'canceled', false],
    ['none', 'unpaid', false],
    ['manual', 'canceled', true],
  ] as const)
    it(`${rejected ? 'rejects' : 'allows'} renders of a ${state} account in the mode ${mode}`, async () => {
      const fixture: ConsoleFixture = await consoleFixture({
        workers: 0,
        env: { PRESSROOM_BILLING: mode, PRESSROOM_QUEUE_TIMEOUT_NO_WORKER: '100ms' },
      });
      try {
        await fixture.store.accounts.updateOne({ _id: fixture.accountId }, { $set: { state } });
        // Without workers, an admitted render fails in the queue.
        const { code, reason } = await fixture.renderError({ html: '<p>x</p>' });
        expect({ code, reason }).to.deep.equal(
          rejected
            ? { code: 'subscription_inactive', reason: undefined }
            : { code: 'render_failed', reason: 'no_worker' },
        );
        const owner = await fixture.createUser({ role: 'owner' });
        expect(await owner.good<Shown>('GET', `/accounts/${fixture.accountId}/billing`)).to.include(
          {
            mode,
            canManage: false,
            notice: null,
          },
        );
        const answer = await owner.call('POST', `/accounts/${fixture.accountId}/billing/checkout`, {
          plan: 'growth',
        });
        expect(answer.status).to.equal(409);
        expect((await owner.call('POST', '/console/stripe/webhook', {})).status).to.equal(404);
      } finally {
        await fixture.stop();
      }
    });

  it('rejects a change of the state in the mode none, where it has no effect', async () => {
    const fixture = await consoleFixture({ workers: 0, env: { PRESSROOM_BILLING: 'none' } });
    try {
      const operator = await fixture.createUser({ operator: true });
      const answer = await operator.call('PATCH', `/operator/accounts/${fixture.accountId}`, {
        state: 'paused',
      });
      expect(answer.status).to.equal(409);
      expect(answer.error().message).to.include('PRESSROOM_BILLING=manual');
    } finally {
      await fixture.stop();
    }
  });

  it('allows changes by the operator after the mode changed from stripe to manual', async () => {
    const fixture = await consoleFixture({ workers: 0 });
    try {
      const billing = {
        customer: 'cus_1',
        revision: 1,
        syncedAt: new Date(),
        state: 'active' as const,
        periodEnd: new Date(),
      };
      await fixture.store.accounts.updateOne({ _id: fixture.accountId }, { $set: { billing } });
      const operator = await fixture.createUser({ operator: true });
      expect(
        (
          await operator.call('PATCH', `/operator/accounts/${fixture.accountId}`, {
            plan: 'free',
            state: 'canceled',
          })
        ).status,
      ).to.equal(200);
    } finally {
      await fixture.stop();
    }
  });

  it('does not start with an incomplete Stripe configuration', () => {
    const env = {
      MONGODB_URI: 'mongodb://x',
      PRESSROOM_PEPPER: 'x'.repeat(16),
      PRESSROOM_POOL_SECRET: 'x'.repeat(16),
    };
    const started = (more: Record<string, string>) => () =>
      complete(readApiConfig({ ...env, ...more }));
    expect(started({})).to.not.throw();
    expect(
      started({
        PRESSROOM_BILLING: 'stripe',
        PRESSROOM_SECRET: 'x'.repeat(16),
        PRESSROOM_DASHBOARD: 'off',
      }),
    ).to.throw(
      /PRESSROOM_STRIPE_SECRET_KEY is missing\n.*PRESSROOM_STRIPE_WEBHOOK_SECRET is missing\n.*PRESSROOM_STRIPE_PRICES is missing\n.*needs the dashboard/,
    );
    expect(started({ PRESSROOM_STRIPE_PRICES: 'gold=price_1' })).to.throw(
      'PRESSROOM_STRIPE_PRICES: `gold=price_1` is invalid',
    );
  });
});
