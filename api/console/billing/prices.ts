// The configured mapping of Stripe prices to plans. Pure.
import { ConfigError } from '../../../common/config.ts';

export interface Prices {
  /** The price for sale of each plan: the first one configured for it. */
  sold: ReadonlyMap<string, string>;
  /** The plan of every configured price, those of earlier customers included. */
  plans: ReadonlyMap<string, string>;
}

/**
 * Parses `starter=price_…` entries. Of several prices of a plan the first is for sale; the others
 * keep the subscriptions of earlier customers valid. Throws ConfigError.
 */
export function parsePrices(
  entries: readonly string[],
  plans: readonly { name: string }[],
): Prices {
  const invalidEntry = (entry: string, why: string) =>
    new ConfigError(
      `PRESSROOM_STRIPE_PRICES: \`${entry.slice(0, 200)}\` is invalid: ${why}. Use plan=price, such as growth=price_1Abc.`,
    );
  const sold = new Map<string, string>();
  const planOfPrice = new Map<string, string>();
  for (const entry of entries) {
    const [, name, price] = /^([^=\s]+)\s*=\s*(price_\w{1,200})$/.exec(entry) ?? [];
    if (name === undefined || price === undefined)
      throw invalidEntry(entry, 'expected a plan, `=` and a price ID');
    const plan = plans.find(known => known.name === name.toLowerCase())?.name;
    if (plan === undefined)
      throw invalidEntry(
        entry,
        `there is no plan \`${name}\`; the plans are ${plans.map(known => known.name).join(', ')}`,
      );
    if (planOfPrice.has(price)) throw invalidEntry(entry, 'the price appears twice');
    planOfPrice.set(price, plan);
    if (!sold.has(plan)) sold.set(plan, price);
  }
  return { sold, plans: planOfPrice };
}
