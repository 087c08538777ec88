import { expect } from 'chai';
import { priceLabel } from '../../../../../api/console/billing/price-label.ts';
import { createPriceList } from '../../../../../api/console/billing/price-list.ts';
import { parsePrices } from '../../../../../api/console/billing/prices.ts';
import {
  relevantSubscription,
  type SubscriptionFacts,
  subscriptionChange,
} from '../../../../../api/console/billing/subscription.ts';
import { ACCOUNT_STATES, type AccountState } from '../../../../../api/store/store.ts';
import { silentLog } from '../../../../../common/log.ts';

const plans = new Map([
  ['price_1', 'starter'],
  ['price_2', 'growth'],
]);
const context = { accountId: 'account001', before: { state: 'active' as AccountState }, plans };

const subscription = (
  facts: Partial<SubscriptionFacts> & { price?: string } = {},
): SubscriptionFacts => ({
  id: 'sub_1',
  status: 'active',
  created: 1_000,
  cancel_at: null,
  cancel_at_period_end: false,
  metadata: {},
  items: {
    data: [
      {
        id: 'si_1',
        price: { id: facts.price ?? 'price_2' },
        current_period_start: 100,
        current_period_end: 200,
      },
    ],
  },
  ...facts,
});

describe('the change of an account by its subscription', () => {
  for (const state of ACCOUNT_STATES)
    it(`sets the state ${state} and the plan of a subscription that is ${state}`, () => {
      expect(subscriptionChange(subscription({ status: state }), context)).to.include({
        state,
        plan: 'growth',
      });
    });

  it('leaves state, plan and period alone while the first payment is pending', () => {
    const answer = subscriptionChange(subscription({ status: 'incomplete' }), context);
    expect(answer).to.not.have.any.keys('state', 'plan', 'period');
    expect(answer.problems).to.deep.equal([]);
  });

  it('cancels after a failed first payment only an account that had a subscription', () => {
    expect(subscriptionChange(subscription({ status: 'incomplete_expired' }), context)).to.include({
      state: 'canceled',
    });
    expect(
      subscriptionChange(subscription({ status: 'incomplete_expired' }), {
        ...context,
        before: {},
      }),
    ).to.not.have.any.keys('state', 'plan');
  });

  it('applies the end of a subscription once, so that later changes remain', () => {
    const ended = subscription({ status: 'canceled' });
    expect(
      subscriptionChange(ended, {
        ...context,
        before: { subscription: 'sub_1', state: 'canceled' },
      }),
    ).to.not.have.any.keys('state', 'plan');
    expect(
      subscriptionChange(ended, {
        ...context,
        before: { subscription: 'sub_0', state: 'canceled' },
      }),
    ).to.include({ state: 'canceled' });
  });

  it('keeps the state and reports a problem for an unknown status', () => {
    const answer = subscriptionChange(subscription({ status: 'dormant' }), context);
    expect(answer).to.not.have.property('state');
    expect(answer.problems).to.deep.equal([{ what: 'unknown status', value: 'dormant' }]);
  });

  it('keeps the plan and reports a problem for an unknown price', () => {
    const answer = subscriptionChange(subscription({ price: 'price_9' }), context);
    expect(answer).to.include({ state: 'active' }).and.not.have.property('plan');
    expect(answer.problems).to.deep.equal([{ what: 'price without a plan', value: 'price_9' }]);
  });

  it('sets the period of a subscription that has not ended', () => {
    expect(subscriptionChange(subscription(), context).period).to.deep.equal({
      start: new Date(100_000),
      end: new Date(200_000),
    });
    expect(subscriptionChange(subscription({ status: 'canceled' }), context)).to.not.have.property(
      'period',
    );
  });

  it('reads either of the two fields for an end with the period', () => {
    expect(subscriptionChange(subscription(), context).cancelAtPeriodEnd).to.equal(false);
    expect(
      subscriptionChange(subscription({ cancel_at_period_end: true }), context).cancelAtPeriodEnd,
    ).to.equal(true);
    expect(
      subscriptionChange(subscription({ cancel_at: 200 }), context).cancelAtPeriodEnd,
    ).to.equal(true);
  });

  const pick = (...list: SubscriptionFacts[]) => relevantSubscription(list, context)?.id;

  it('comes from the newest subscription that has not ended', () => {
    const [older, newer] = [
      subscription({ id: 'older', created: 1 }),
      subscription({ id: 'newer', created: 2 }),
    ];
    expect(pick(older, newer)).to.equal('newer');
    expect(pick(older, { ...newer, status: 'canceled' })).to.equal('older');
    expect(pick({ ...older, status: 'canceled' }, { ...newer, status: 'canceled' })).to.equal(
      'newer',
    );
    expect(pick(older, { ...newer, status: 'incomplete' })).to.equal('older');
    expect(pick()).to.equal(undefined);
  });

  it('does not come from another product of the customer', () => {
    const other = subscription({ id: 'other', created: 9, price: 'price_of_something_else' });
    expect(pick(other)).to.equal(undefined);
    expect(pick(other, subscription({ id: 'ours' }))).to.equal('ours');
    expect(pick({ ...other, metadata: { pressroom_account: context.accountId } })).to.equal(
      'other',
    );
    expect(
      relevantSubscription([other], { ...context, before: { subscription: 'other' } })?.id,
    ).to.equal('other');
  });
});

describe('PRESSROOM_STRIPE_PRICES', () => {
  const known = [{ name: 'starter' }, { name: 'growth' }];
  const problem = (...entries: string[]): string => {
    try {
      parsePrices(entries, known);
    } catch (error) {
      return (error as Error).message;
    }
    throw new Error('the entries were accepted');
  };

  it('sells the first price of a plan and maps all of them to it', () => {
    const prices = parsePrices(['starter=price_a', 'Growth = price_b', 'starter=price_old'], known);
    expect([...prices.sold]).to.deep.equal([
      ['starter', 'price_a'],
      ['growth', 'price_b'],
    ]);
    expect(prices.plans.get('price_old')).to.equal('starter');
  });

  it('rejects an invalid entry and names it', () => {
    expect(problem('starter')).to.match(/`starter` is invalid.*price_1Abc/);
    expect(problem('starter=prod_1')).to.include('`starter=prod_1` is invalid');
    expect(problem('gold=price_a')).to.include(
      'there is no plan `gold`; the plans are starter, growth',
    );
    expect(problem('starter=price_a', 'growth=price_a')).to.include('appears twice');
  });
});

describe('the price list', () => {
  const list = () => {
    const provider = { nowMs: 0, calls: 0, unavailable: false };
    const price = async () => {
      provider.calls += 1;
      if (provider.unavailable) throw new Error('the provider is unavailable');
      return { title: 'Growth', amount: `€${provider.calls}` };
    };
    const prices = parsePrices(['growth=price_b'], [{ name: 'growth' }]);
    const { read } = createPriceList(
      { payments: { price }, prices, log: silentLog },
      () => provider.nowMs,
    );
    return {
      provider,
      amount: async () => (await read()).prices.get('growth')?.amount,
      complete: async () => (await read()).complete,
    };
  };

  it('is read once in ten minutes, for concurrent callers too', async () => {
    const { provider, amount } = list();
    expect(await Promise.all([amount(), amount()])).to.deep.equal(['€1', '€1']);
    provider.nowMs = 599_999;
    expect(await amount()).to.equal('€1');
    provider.nowMs = 600_000;
    expect(await amount()).to.equal('€2');
  });

  it('keeps the last known prices while the provider is unavailable, and retries soon', async () => {
    const { provider, amount, complete } = list();
    await amount();
    Object.assign(provider, { nowMs: 600_000, unavailable: true });
    expect([await amount(), await complete(), provider.calls]).to.deep.equal(['€1', true, 2]);
    Object.assign(provider, { nowMs: 615_000, unavailable: false });
    expect(await amount()).to.equal('€3');
  });

  it('is incomplete while the provider has never responded', async () => {
    const { provider, complete } = list();
    provider.unavailable = true;
    expect(await complete()).to.equal(false);
  });
});

describe('the label of a price', () => {
  const monthly = { interval: 'month' as const, interval_count: 1 };
  const cases: [
    string,
    number | null,
    { interval: 'month' | 'year'; interval_count: number } | null,
    string | null,
  ][] = [
    ['eur', 2_900, monthly, '€29.00 / month'],
    ['usd', 30_000, { interval: 'month', interval_count: 3 }, '$300.00 / 3 months'],
    ['jpy', 3_000, { interval: 'year', interval_count: 1 }, '¥3,000 / year'],
    ['isk', 300_000, monthly, 'ISK 3,000 / month'],
    ['eur', 2_900, null, '€29.00'],
    ['eur', null, monthly, null],
  ];
  for (const [currency, unit_amount, recurring, label] of cases)
    it(`is ${label} for ${unit_amount} ${currency}`, () => {
      expect(
        priceLabel({ currency, unit_amount, recurring })?.replaceAll('\u00a0', ' ') ?? null,
      ).to.equal(label);
    });
});
