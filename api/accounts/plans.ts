// The plans and their limits: built in, or set in PRESSROOM_PLANS. An account stores only the name
// of its plan.
import { ConfigError } from '../../common/config.ts';

export interface PlanLimits {
  /** Concurrency limit. */
  parallel: number;
  /** Most asynchronous renders that run at once, within the concurrency limit. */
  asyncParallel: number;
  /** Most asynchronous renders that wait. */
  maxWaiting: number;
}

export interface Plan extends PlanLimits {
  /** Lower case. */
  name: string;
  /** Renders per month, for display and alerts only. Renders over it are not rejected. */
  monthlyQuota?: number;
}

const MAX_PARALLEL = 10_000;
const MAX_WAITING = 1_000_000;

/** The limits without options: asynchronous renders leave one render to synchronous calls. */
const limitsOf = (parallel: number): PlanLimits => ({
  parallel,
  asyncParallel: Math.max(1, parallel - 1),
  maxWaiting: 25_000,
});

const BUILT_IN: Plan[] = [
  { name: 'free', ...limitsOf(1) },
  { name: 'starter', ...limitsOf(2) },
  { name: 'growth', ...limitsOf(4) },
  { name: 'scale', ...limitsOf(8) },
];

/** The limits of an account whose plan is no longer configured. */
export const LIMITS_OF_UNKNOWN_PLAN = limitsOf(1);

/** The options of an entry and the limits that they set. */
const OPTIONS = { async_parallel: 'asyncParallel', queue: 'maxWaiting' } as const;

const isOption = (key: string | undefined): key is keyof typeof OPTIONS =>
  key !== undefined && Object.hasOwn(OPTIONS, key);

function parseEntry(entry: string): Plan {
  const wrong = (why: string) =>
    new ConfigError(
      `PRESSROOM_PLANS: \`${entry}\` is invalid: ${why}. The format is name=concurrency or name=concurrency:quota, then options (async_parallel=renders, queue=renders), for example growth=4:10000 async_parallel=2 queue=5000.`,
    );
  const integer = (what: string, text: string, from: number, to: number) => {
    const value = /^\d{1,7}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= from && value <= to) return value;
    throw wrong(`${what} must be an integer from ${from} to ${to}`);
  };
  const compact = entry
    .replace(/\s+/g, ' ')
    .replace(/ ?([=:]) ?/g, '$1')
    .trim();
  const [, name, parallelText, quotaText, options] =
    /^([^=]*)=([^: ]*)(?::([^ ]*))?(?: (.*))?$/.exec(compact) ?? [];
  if (name === undefined) throw wrong('`=` is missing');
  if (!/^[a-z][a-z0-9_-]{0,39}$/i.test(name))
    throw wrong(
      'the name must start with a letter and have at most 40 letters, digits, `-` and `_`',
    );
  const parallel = integer('the concurrency limit', parallelText!, 1, MAX_PARALLEL);
  const plan: Plan = { name: name.toLowerCase(), ...limitsOf(parallel) };
  if (quotaText !== undefined) {
    if (!/^\d{1,12}$/.test(quotaText)) throw wrong('the monthly quota must be an integer');
    plan.monthlyQuota = Number(quotaText);
  }
  const most = { async_parallel: parallel, queue: MAX_WAITING };
  const seen = new Set<string>();
  for (const option of options?.split(' ') ?? []) {
    const [, key, value] = /^([^=]*)=?(.*)$/.exec(option)!;
    if (!isOption(key)) throw wrong(`\`${key}\` is not an option`);
    if (seen.has(key)) throw wrong(`\`${key}\` is listed twice`);
    seen.add(key);
    plan[OPTIONS[key]] = integer(`\`${key}\``, value!, 1, most[key]);
  }
  return plan;
}

/**
 * The built-in plans, changed and extended by `entries`: `name=parallel` or `name=parallel:quota`,
 * then the options `async_parallel=n` and `queue=n`, separated by spaces. Throws
 * ConfigError that names an invalid entry.
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
