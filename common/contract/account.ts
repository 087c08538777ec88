// The responses and parameters of GET /v1/account and GET /v1/usage.
import { z } from 'zod';
import { type ErrorCase, READ_FAILURES, unauthorizedCase } from './answers.ts';

export const ACCOUNT_STATES = [
  'active',
  'trialing',
  'past_due',
  'unpaid',
  'canceled',
  'paused',
] as const;
export type AccountState = (typeof ACCOUNT_STATES)[number];

const count = (description: string) => z.int().min(0).meta({ description });

export const accountSchema = z
  .object({
    id: z.string().meta({ description: 'The account ID, which is part of each of its keys.' }),
    name: z.string().meta({ description: 'The name of the account.' }),
    plan: z.string().meta({ description: 'The name of the plan.' }),
    state: z.enum(ACCOUNT_STATES).meta({ description: 'The state of the subscription.' }),
    concurrency_limit: z
      .int()
      .min(1)
      .meta({ description: 'Maximum number of concurrent renders.' }),
    running: count('Number of running and queued renders.'),
    monthly_quota: count(
      'Renders included in each month. Absent for a plan without a quota.',
    ).optional(),
    usage: z
      .object({
        period: z.string().meta({
          description:
            'A month in UTC such as `2026-11`, or the first day of a paid billing period such as `2026-11-15`.',
        }),
        count: count('Renders counted in this period, as in `X-Usage-Count`.'),
      })
      .meta({ description: 'The usage in the current billing period.' }),
  })
  .meta({ description: 'The account of the API key.' });
export type AccountAnswer = z.output<typeof accountSchema>;

export const MAX_USAGE_DAYS = 366;
/**
 * Keys in a report: those with the most renders. Days and total include the others too. An account
 * has at most 200 keys, but may have revoked any number.
 */
export const MAX_USAGE_KEYS = 1_000;

const DAY = 'a day in UTC such as 2026-11-30';
const day = z.iso.date({ error: DAY });

export const USAGE_GROUPS = ['day', 'key'] as const;

/** The parameters of GET /v1/usage. */
export const usageQuerySchema = z.object({
  from: day
    .meta({
      description: 'The first day, in UTC. By default 29 days before the last day.',
      examples: ['2026-11-01'],
    })
    .optional(),
  to: day
    .meta({
      description: `The last day, in UTC. By default today. The range has at most ${MAX_USAGE_DAYS} days.`,
      examples: ['2026-11-30'],
    })
    .optional(),
  group_by: z
    .enum(USAGE_GROUPS, { error: USAGE_GROUPS.join(' or ') })
    .meta({ description: 'One item for each day or for each API key. By default `day`.' })
    .optional(),
});

const figures = {
  counted: count('Renders that count toward usage.'),
  sandbox: count('Successful sandbox renders.'),
  failed: count('Failed renders: errors with a 5xx status.'),
  rejected: count('Rejected requests: errors with a 4xx status.'),
  pages: count('Pages of all PDFs.'),
  bytes: count('Bytes of all PDFs.'),
};

export const usageSchema = z
  .object({
    from: day.meta({ description: 'The first day.' }),
    to: day.meta({ description: 'The last day.' }),
    items: z
      .array(
        z
          .object({
            day: day.meta({ description: 'With `group_by=day`: the day.' }).optional(),
            key: z
              .object({
                id: z.string().meta({ description: 'The key ID.' }).optional(),
                name: z.string().meta({ description: 'Absent for a revoked key.' }).optional(),
                last4: z.string().meta({ description: 'Absent for a revoked key.' }).optional(),
              })
              .meta({
                description:
                  'With `group_by=key`: the API key. Empty for renders without a key, from the dashboard and the MCP tool.',
              })
              .optional(),
            ...figures,
          })
          .meta({ description: 'The figures of a day or of a key.' }),
      )
      .meta({
        description: `With \`group_by=day\` every day of the range in order, otherwise every key with requests, at most the ${MAX_USAGE_KEYS} keys with the most renders.`,
      }),
    total: z.object(figures).meta({ description: 'The figures of the whole range.' }),
  })
  .meta({ description: 'The usage of the account.' });
export type UsageAnswer = z.output<typeof usageSchema>;

export const EXAMPLE_ACCOUNT: AccountAnswer = {
  id: '3fK9xQ2mLp',
  name: 'acme',
  plan: 'growth',
  state: 'active',
  concurrency_limit: 4,
  running: 1,
  usage: { period: '2026-11', count: 1284 },
};

const EXAMPLE_FIGURES = {
  counted: 412,
  sandbox: 3,
  failed: 1,
  rejected: 2,
  pages: 980,
  bytes: 20_871_300,
};
export const EXAMPLE_USAGE: Record<string, { summary: string; value: UsageAnswer }> = {
  day: {
    summary: 'By day',
    value: {
      from: '2026-11-30',
      to: '2026-11-30',
      items: [{ day: '2026-11-30', ...EXAMPLE_FIGURES }],
      total: EXAMPLE_FIGURES,
    },
  },
  key: {
    summary: 'By API key',
    value: {
      from: '2026-11-30',
      to: '2026-11-30',
      items: [
        { key: { id: 'tR5vW8yB1cD3', name: 'billing job', last4: 'x7Qp' }, ...EXAMPLE_FIGURES },
      ],
      total: EXAMPLE_FIGURES,
    },
  },
};

/** The errors of both routes in the order of their checks. */
export const readErrorCases: ErrorCase[] = [
  {
    ...unauthorizedCase('`read`'),
    message:
      'The API key does not have the scope `read`. Use a key with this scope, or create one in the dashboard.',
  },
  {
    code: 'validation_error',
    when: 'A parameter is unknown or invalid.',
    message: '`group` is not a valid parameter.',
  },
  ...READ_FAILURES,
];
