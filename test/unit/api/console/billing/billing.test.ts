import { expect } from 'chai';
import { priceLabel } from '../../../../../api/console/billing/price-label.ts';
import { createPriceList } from '../../../../../api/console/billing/price-list.ts';
import { parsePrices } from '../../../../../api/console/billing/prices.ts';
import {
  relevant,
  type SubscriptionFacts,
  taken,
} from '../../../../../api/console/billing/subscription.ts';
import { ACCOUNT_STATES, type AccountState } from '../../../../../api/store/store.ts';
import { silentLog } from '../../../../../common/log.ts';

const plans = new Map([
  ['price_1', 'starter'],
  ['price_2', 'growth'],
]);
const about = { accountId: 'account001', before: { state: 'active' as AccountState }, plans };

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

describe('what a subscription means for an account', () => {
  for (const state of ACCOUNT_STATES)
    it(`is the state ${state} when it is ${state}`, () => {
      expect(taken(subscription({ status: state }), about)).to.include({ state, plan: 'growth' });
    });

  it('is nothing while its first payment is on its way', () => {
    const answer = taken(subscription({ status: 'incomplete' }), about);
    expect(answer).to.not.have.any.keys('state', 'plan', 'period');
    expect(answer.problems).to.deep.equal([]);
  });

  it('is the end when its first payment never came, but not of an account that never had one', () => {
    expect(taken(subscription({ status: 'incomplete_expired' }), about)).to.include({
      state: 'canceled',
    });
    expect(
      taken(subscription({ status: 'incomplete_expired' }), { ...about, before: {} }),
    ).to.not.have.any.keys('state', 'plan');
  });

  it('is the end once: what the account is given afterwards stands', () => {
    const ended = subscription({ status: 'canceled' });
    expect(
      taken(ended, { ...about, before: { subscription: 'sub_1', state: 'canceled' } }),
    ).to.not.have.any.keys('state', 'plan');
    expect(
      taken(ended, { ...about, before: { subscription: 'sub_0', state: 'canceled' } }),
    ).to.include({ state: 'canceled' });
  });

  it('is the last known state with a status that nobody knows, and a problem', () => {
    const answer = taken(subscription({ status: 'dormant' }), about);
    expect(answer).to.not.have.property('state');
    expect(answer.problems).to.deep.equal([
      { what: 'a status that is not known', value: 'dormant' },
    ]);
  });

  it('is the last known plan with a price that nobody knows, and a problem', () => {
    const answer = taken(subscription({ price: 'price_9' }), about);
    expect(answer).to.include({ state: 'active' }).and.not.have.property('plan');
    expect(answer.problems).to.deep.equal([
      { what: 'a price that is no plan’s', value: 'price_9' },
    ]);
  });

  it('has a period until it ends', () => {
    expect(taken(subscription(), about).period).to.deep.equal({
      start: new Date(100_000),
      end: new Date(200_000),
    });
    expect(taken(subscription({ status: 'canceled' }), about)).to.not.have.property('period');
  });

  it('ends with its period by either of the two words for it', () => {
    expect(taken(subscription(), about).cancelAtPeriodEnd).to.equal(false);
    expect(taken(subscription({ cancel_at_period_end: true }), about).cancelAtPeriodEnd).to.equal(
      true,
    );
    expect(taken(subscription({ cancel_at: 200 }), about).cancelAtPeriodEnd).to.equal(true);
  });

  const pick = (...list: SubscriptionFacts[]) => relevant(list, about)?.id;

  it('is told by the newest that has not ended', () => {
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

  it('is not told by something else that the customer bought', () => {
    const other = subscription({ id: 'other', created: 9, price: 'price_of_something_else' });
    expect(pick(other)).to.equal(undefined);
    expect(pick(other, subscription({ id: 'ours' }))).to.equal('ours');
    expect(pick({ ...other, metadata: { pressroom_account: about.accountId } })).to.equal('other');
    expect(relevant([other], { ...about, before: { subscription: 'other' } })?.id).to.equal(
      'other',
    );
  });
});

describe('the prices of plans', () => {
  const known = [{ name: 'starter' }, { name: 'growth' }];
  const problem = (...entries: string[]): string => {
    try {
      parsePrices(entries, known);
    } catch (error) {
      return (error as Error).message;
    }
    throw new Error('it was accepted');
  };

  it('sell the first of a plan and know all of them', () => {
    const prices = parsePrices(['starter=price_a', 'Growth = price_b', 'starter=price_old'], known);
    expect([...prices.sold]).to.deep.equal([
      ['starter', 'price_a'],
      ['growth', 'price_b'],
    ]);
    expect(prices.plans.get('price_old')).to.equal('starter');
  });

  it('are refused by name', () => {
    expect(problem('starter')).to.match(/`starter` is wrong.*price_1Abc/);
    expect(problem('starter=prod_1')).to.include('`starter=prod_1` is wrong');
    expect(problem('gold=price_a')).to.include(
      'there is no plan `gold`; the plans are starter, growth',
    );
    expect(problem('starter=price_a', 'growth=price_a')).to.include('given twice');
  });
});

describe('the list of prices', () => {
  const list = () => {
    const fixture = { nowMs: 0, asked: 0, away: false };
    const price = async () => {
      fixture.asked += 1;
      if (fixture.away) throw new Error('the provider is away');
      return { title: 'Growth', amount: `€${fixture.asked}` };
    };
    const prices = parsePrices(['growth=price_b'], [{ name: 'growth' }]);
    const { read } = createPriceList(
      { payments: { price }, prices, log: silentLog },
      () => fixture.nowMs,
    );
    return {
      fixture,
      amount: async () => (await read()).prices.get('growth')?.amount,
      complete: async () => (await read()).complete,
    };
  };

  it('is asked for once in ten minutes, however many look at once', async () => {
    const { fixture, amount } = list();
    expect(await Promise.all([amount(), amount()])).to.deep.equal(['€1', '€1']);
    fixture.nowMs = 599_999;
    expect(await amount()).to.equal('€1');
    fixture.nowMs = 600_000;
    expect(await amount()).to.equal('€2');
  });

  it('is the last known while the provider is away, and asked for again soon', async () => {
    const { fixture, amount, complete } = list();
    await amount();
    Object.assign(fixture, { nowMs: 600_000, away: true });
    expect([await amount(), await complete(), fixture.asked]).to.deep.equal(['€1', true, 2]);
    Object.assign(fixture, { nowMs: 615_000, away: false });
    expect(await amount()).to.equal('€3');
  });

  it('is not complete when the provider was always away', async () => {
    const { fixture, complete } = list();
    fixture.away = true;
    expect(await complete()).to.equal(false);
  });
});

describe('a price in words', () => {
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
  for (const [currency, unit_amount, recurring, words] of cases)
    it(`of ${unit_amount} ${currency} is ${words}`, () => {
      expect(
        priceLabel({ currency, unit_amount, recurring })?.replaceAll('\u00a0', ' ') ?? null,
      ).to.equal(words);
    });
});
