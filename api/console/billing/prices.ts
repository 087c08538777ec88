// Which plan each of Stripe's prices is, by the operator's configuration. Pure.
import { ConfigError } from '../../../common/config.ts';

export interface Prices {
  /** What is sold, by plan: the first price that is named for it. */
  sold: ReadonlyMap<string, string>;
  /** The plan of every price that is named, those of earlier customers included. */
  plans: ReadonlyMap<string, string>;
}

/**
 * Reads `starter=price_…` entries. A plan may have several prices: the first is sold, the others
 * are of those who bought before. Throws ConfigError.
 */
export function parsePrices(
  entries: readonly string[],
  plans: readonly { name: string }[],
): Prices {
  const wrong = (entry: string, why: string) =>
    new ConfigError(
      `PRESSROOM_STRIPE_PRICES: \`${entry.slice(0, 200)}\` is wrong: ${why}. Write a price as plan=id, such as growth=price_1Abc.`,
    );
  const sold = new Map<string, string>();
  const ofPrices = new Map<string, string>();
  for (const entry of entries) {
    const [, name, price] = /^([^=\s]+)\s*=\s*(price_\w{1,200})$/.exec(entry) ?? [];
    if (name === undefined || price === undefined)
      throw wrong(entry, 'it is not a plan, `=` and the id of a price');
    const plan = plans.find(known => known.name === name.toLowerCase())?.name;
    if (plan === undefined)
      throw wrong(
        entry,
        `there is no plan \`${name}\`; the plans are ${plans.map(known => known.name).join(', ')}`,
      );
    if (ofPrices.has(price)) throw wrong(entry, 'the price is given twice');
    ofPrices.set(price, plan);
    if (!sold.has(plan)) sold.set(plan, price);
  }
  return { sold, plans: ofPrices };
}
