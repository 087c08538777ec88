// The plans and their concurrency limits: built in, or set in PRESSROOM_PLANS. An account stores
// only the name of its plan.
import { ConfigError } from '../../common/config.ts';

export interface Plan {
  /** Lower case. */
  name: string;
  /** Concurrency limit. */
  parallel: number;
  /** Renders per month, for display and alerts only. Renders over it are not rejected. */
  monthlyQuota?: number;
}

const BUILT_IN: Plan[] = [
  { name: 'free', parallel: 1 },
  { name: 'starter', parallel: 2 },
  { name: 'growth', parallel: 4 },
  { name: 'scale', parallel: 8 },
];

/** Concurrency limit of an account whose plan is no longer configured. */
export const PARALLEL_OF_UNKNOWN_PLAN = 1;

const MAX_PARALLEL = 10_000;

function parseEntry(entry: string): Plan {
  const wrong = (why: string) =>
    new ConfigError(
      `PRESSROOM_PLANS: \`${entry}\` is invalid: ${why}. The format is name=concurrency or name=concurrency:quota, for example growth=4:10000.`,
    );
  const [, name, parallelText, quotaText] =
    /^\s*([^=]*?)\s*=\s*([^:]*?)\s*(?::\s*(.*?)\s*)?$/.exec(entry.slice(0, 200)) ?? [];
  if (name === undefined) throw wrong('`=` is missing');
  if (!/^[a-z][a-z0-9_-]{0,39}$/i.test(name))
    throw wrong(
      'the name must start with a letter and have at most 40 letters, digits, `-` and `_`',
    );
  const parallel = /^\d{1,6}$/.test(parallelText!) ? Number(parallelText) : 0;
  if (parallel < 1 || parallel > MAX_PARALLEL)
    throw wrong(`the concurrency limit must be an integer from 1 to ${MAX_PARALLEL}`);
  if (quotaText === undefined) return { name: name.toLowerCase(), parallel };
  if (!/^\d{1,12}$/.test(quotaText)) throw wrong('the monthly quota must be an integer');
  return { name: name.toLowerCase(), parallel, monthlyQuota: Number(quotaText) };
}

/**
 * The built-in plans, changed and extended by `entries` (`name=parallel` or `name=parallel:quota`).
 * Throws ConfigError that names an invalid entry.
 */
export function parsePlans(entries: readonly string[]): Plan[] {
  const plans = new Map(BUILT_IN.map(plan => [plan.name, plan]));
  const seen = new Set<string>();
  for (const plan of entries.map(parseEntry)) {
    if (seen.has(plan.name))
      throw new ConfigError(`PRESSROOM_PLANS: \`${plan.name}\` is listed twice.`);
    seen.add(plan.name);
    plans.set(plan.name, plan);
  }
  return [...plans.values()];
}

/**
 * What sets an account's plan and state. `none`: every account may render. `manual`: the
 * administrator. `stripe`: the Stripe subscription.
 */
export const BILLING_MODES = ['none', 'manual', 'stripe'] as const;
export type BillingMode = (typeof BILLING_MODES)[number];
