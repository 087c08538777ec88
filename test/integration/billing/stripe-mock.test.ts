import { expect } from 'chai';
import type { Payments } from '../../../api/console/billing/payments.ts';
import { StripePayments } from '../../../api/console/billing/stripe.ts';
import { ApiError } from '../../../common/contract/errors.ts';
import { silentLog } from '../../../common/log.ts';
import { type StripeMock, stripeMock } from '../../support/servers/stripe-mock.ts';

const failure = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => expect.fail('the call succeeded'),
    error => error,
  );

describe('Stripe’s mock server', () => {
  let mock: StripeMock | undefined;
  let payments: Payments;
  before(async function () {
    mock = await stripeMock(this);
    payments = new StripePayments(
      { secretKey: 'sk_test_123', webhookSecret: 'whsec_123', apiUrl: mock.url },
      silentLog,
    );
  });
  after(() => mock?.stop());

  const backUrl = 'https://pressroom.example/app/billing';
  const customer = 'cus_123';
  const calls: Record<string, () => Promise<unknown>> = {
    'the creation of a customer': () => payments.createCustomer('account001'),
    'the name of a customer': () =>
      payments.nameCustomer(customer, { name: 'Acme', email: 'ada@example.com' }),
    'the list of subscriptions': () => payments.subscriptionsOf(customer),
    'a checkout': () =>
      payments.checkoutPage({ customer, accountId: 'account001', price: 'price_123', backUrl }),
    'the portal': () => payments.portalPage({ customer, backUrl }),
    'the portal for another price': () =>
      payments.portalPage({
        customer,
        backUrl,
        change: { subscription: 'sub_123', item: 'si_123', price: 'price_123' },
      }),
    'the read of a price': () => payments.price('price_123'),
  };
  for (const [what, call] of Object.entries(calls))
    it(`accepts the parameters of ${what}`, async () => {
      await call();
    });

  it('returns the fields that we read', async () => {
    expect(await payments.createCustomer('account001')).to.match(/^cus_/);
    const [subscription] = await payments.subscriptionsOf(customer);
    expect(subscription).to.include.keys(
      'id',
      'status',
      'created',
      'cancel_at',
      'cancel_at_period_end',
      'metadata',
      'items',
    );
    expect(subscription!.items.data[0]!.price.id).to.be.a('string');
    expect(subscription!.items.data[0]!.current_period_end).to.be.a('number');
    expect(await payments.price('price_123')).to.have.all.keys('title', 'amount');
  });

  it('rejects an unknown parameter', async () => {
    const answer = await fetch(`${mock!.url}/v1/customers`, {
      method: 'POST',
      headers: { authorization: 'Bearer sk_test_123' },
      body: new URLSearchParams({ colour: 'red' }),
    });
    expect(answer.status).to.equal(400);
    expect(await answer.text()).to.include('Request validation');
  });

  it('rejects a value of the wrong type', async () => {
    const error = await failure(
      payments.portalPage({ customer, backUrl, change: { subscription: 'sub_123' } as never }),
    );
    expect(error).to.be.instanceOf(ApiError);
    expect(error).to.include({ code: 'conflict' });
  });
});
