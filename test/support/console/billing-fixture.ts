// An installation with billing by the Stripe stub, and customers with signed-in owners.
import type { AccountDocument } from '../../../api/store/store.ts';
import { SECRET_KEY, type StripeFake, stripeFake, WEBHOOK_SECRET } from '../servers/stripe-fake.ts';
import type { FakeSubscription } from '../servers/stripe-world.ts';
import { type ConsoleFixture, consoleFixture, type TestUser } from './console-fixture.ts';

export interface BillingFixture extends ConsoleFixture {
  stripe: StripeFake;
  /** The billing configuration, for further API processes on the same database. */
  env: Record<string, string>;
  /** Creates an account with a key and a signed-in owner. */
  customer(plan?: string): Promise<Customer>;
  /** Delivers all pending events of Stripe. */
  deliverAll(): Promise<void>;
}

export interface Customer {
  id: string;
  name: string;
  key: string;
  owner: TestUser;
  read(): Promise<AccountDocument>;
  /** Creates a checkout for `plan` and returns its URL. */
  checkout(plan: string): Promise<string>;
  /** Buys `plan`, from the checkout to the delivery of the events. */
  buy(plan: string): Promise<FakeSubscription>;
}

export const PRICES = { starter: 'price_starter', growth: 'price_growth' } as const;

export async function billingFixture(
  options: Parameters<typeof consoleFixture>[0] = {},
): Promise<BillingFixture> {
  const stripe = await stripeFake();
  stripe.world.addPrice(PRICES.starter, 'Starter', 1_900);
  stripe.world.addPrice(PRICES.growth, 'Growth', 4_900);
  const env = {
    PRESSROOM_BILLING: 'stripe',
    PRESSROOM_STRIPE_SECRET_KEY: SECRET_KEY,
    PRESSROOM_STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET,
    PRESSROOM_STRIPE_PRICES: Object.entries(PRICES)
      .map(pair => pair.join('='))
      .join(','),
    PRESSROOM_STRIPE_API_URL: stripe.url,
  };
  const fixture = await consoleFixture({
    workers: 0,
    ...options,
    env: { ...env, ...options.env },
  }).catch(async error => {
    await stripe.close();
    throw error;
  });
  const deliverAll = () => stripe.deliverAll(fixture.api.port());

  async function customer(plan = 'free'): Promise<Customer> {
    const id = await fixture.account2(plan);
    const read = async () => (await fixture.store.accounts.findOne({ _id: id }))!;
    const { name } = await read();
    const { text: key } = await fixture.accounts.createKey(name, { name: 'key' });
    const owner = await fixture.createUser({ role: 'owner', account: id });
    const checkout = async (planName: string) =>
      (
        await owner.good<{ url: string }>('POST', `/accounts/${id}/billing/checkout`, {
          plan: planName,
        })
      ).url;
    return {
      id,
      name,
      key,
      owner,
      read,
      checkout,
      buy: async planName => {
        const subscription = stripe.world.pay(await checkout(planName));
        await deliverAll();
        return subscription;
      },
    };
  }

  return {
    ...fixture,
    stripe,
    env,
    customer,
    deliverAll,
    stop: async () => {
      const clean = await fixture.stop();
      await stripe.close();
      return clean;
    },
  };
}
