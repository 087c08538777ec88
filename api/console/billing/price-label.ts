// The label of a Stripe price. Pure.
import type { Stripe } from 'stripe';

/**
 * Stripe counts these in hundredths although the currencies have no decimals any more
 * (https://docs.stripe.com/currencies#special-cases).
 */
const IN_HUNDREDTHS = new Set(['ISK', 'UGX']);

export type PriceFacts = Pick<Stripe.Price, 'currency' | 'unit_amount'> & {
  recurring: Pick<Stripe.Price.Recurring, 'interval' | 'interval_count'> | null;
};

/**
 * Such as `€29.00 / month` or `$300.00 / 3 months`; null for a price with tiers or with fractions
 * of the smallest unit.
 */
export function priceLabel({ currency, unit_amount, recurring }: PriceFacts): string | null {
  if (unit_amount === null) return null;
  const code = currency.toUpperCase();
  const format = new Intl.NumberFormat('en', { style: 'currency', currency: code });
  const digits = IN_HUNDREDTHS.has(code)
    ? 2
    : (format.resolvedOptions().maximumFractionDigits ?? 2);
  const amount = format.format(unit_amount / 10 ** digits);
  if (!recurring) return amount;
  const { interval, interval_count: count } = recurring;
  return `${amount} / ${count === 1 ? interval : `${count} ${interval}s`}`;
}
