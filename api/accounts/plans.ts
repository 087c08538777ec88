// The plans: how many renders at once each allows. Built in or changed by the operator's
// configuration; accounts only name one.
import { ConfigError } from '../../common/config.ts';

export interface Plan {
  /** Lower case. */
  name: string;
  /** Renders at once. */
  parallel: number;
  /** Renders a month, for display and alerts only: nobody is refused for it. */
  monthlyQuota?: number;
}

const BUILT_IN: Plan[] = [
  { name: 'free', parallel: 1 },
  { name: 'starter', parallel: 2 },
  { name: 'growth', parallel: 4 },
  { name: 'scale', parallel: 8 },
];

/**
 * What an account gets whose plan is not configured any more: it goes on working, slowly, until the
 * operator gives it another.
 */
export const PARALLEL_OF_UNKNOWN_PLAN = 1;

const MAX_PARALLEL = 10_000;

function parseEntry(entry: string): Plan {
  const wrong = (why: string) =>
    new ConfigError(
      `PRESSROOM_PLANS: \`${entry}\` is wrong: ${why}. Write a plan as name=parallel or name=parallel:quota, such as growth=4:10000.`,
    );
  const [, name, parallelText, quotaText] =
    /^\s*([^=]*?)\s*=\s*([^:]*?)\s*(?::\s*(.*?)\s*)?$/.exec(entry.slice(0, 200)) ?? [];
  if (name === undefined) throw wrong('it has no `=`');
  if (!/^[a-z][a-z0-9_-]{0,39}$/i.test(name))
    throw wrong('a name is a letter, then letters, digits, `-` or `_`, at most 40');
  const parallel = /^\d{1,6}$/.test(parallelText!) ? Number(parallelText) : 0;
  if (parallel < 1 || parallel > MAX_PARALLEL)
    throw wrong(`the renders at once are a whole number from 1 to ${MAX_PARALLEL}`);
  if (quotaText === undefined) return { name: name.toLowerCase(), parallel };
  if (!/^\d{1,12}$/.test(quotaText)) throw wrong('the monthly quota is a whole number');
  return { name: name.toLowerCase(), parallel, monthlyQuota: Number(quotaText) };
}

/**
 * The built-in plans, changed and added to by `entries` (`name=parallel` or `name=parallel:quota`).
 * Throws ConfigError naming a wrong entry.
 */
export function parsePlans(entries: readonly string[]): Plan[] {
  const plans = new Map(BUILT_IN.map(plan => [plan.name, plan]));
  const seen = new Set<string>();
  for (const plan of entries.map(parseEntry)) {
    if (seen.has(plan.name))
      throw new ConfigError(`PRESSROOM_PLANS: \`${plan.name}\` is given twice.`);
    seen.add(plan.name);
    plans.set(plan.name, plan);
  }
  return [...plans.values()];
}

/**
 * Who sets an account's plan and state: no one, since every account is served; the operator; or
 * what is paid at Stripe.
 */
export const BILLING_MODES = ['none', 'manual', 'stripe'] as const;
export type BillingMode = (typeof BILLING_MODES)[number];
