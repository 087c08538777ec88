// Schemas of the management API for an account (overview, keys, renders, usage, billing) and for
// operators (accounts, users, live view, health).
import { z } from 'zod';
import { renderFailedReason } from '../../../common/contract/answers.ts';
import { MAX_REFERENCE_LENGTH } from '../../../common/contract/fields.ts';
import { MAX_NETWORKS } from '../../accounts/allowed-ips.ts';
import { MIN_SAMPLES } from '../../history/usage-buckets.ts';
import { ACCOUNT_STATES, KEY_SCOPES } from '../../store/documents.ts';
import { PHASES } from '../../store/phases.ts';
import { count, cursorQuery, id, nameText, page, searchText, time } from './common.ts';
import { pageReport } from './page-report.ts';
import { billingMode } from './users.ts';

export const accountState = z.enum(ACCOUNT_STATES, {
  error: `one of ${ACCOUNT_STATES.join(', ')}`,
});

export const renderOutcome = z.enum(['ok', 'error', 'client_closed']);
export const renderVia = z.enum(['api', 'playground', 'mcp', 'async']);
export const renderSource = z.enum(['html', 'url']);
export const renderKey = z.object({
  id,
  name: z.string().nullable(),
  last4: z.string().nullable(),
});

export const renderSummary = z.object({
  id,
  at: time,
  outcome: renderOutcome,
  rejected: z.boolean().meta({
    description: 'True for an error of the request, such as an invalid field or a reached limit.',
  }),
  code: z.string().nullable(),
  reason: renderFailedReason.nullable(),
  times: count.meta({
    description:
      'More than 1 when this record stands for several errors that the account caused in one second.',
  }),
  via: renderVia,
  key: renderKey.nullable(),
  app: z.string().nullable().meta({ description: 'Name of the app that called the MCP tool.' }),
  sandbox: z.boolean(),
  counted: z.boolean(),
  source: renderSource
    .nullable()
    .meta({ description: 'Null when the request was rejected before it was parsed.' }),
  url: z.string().nullable(),
  reference: z.string().nullable().meta({ description: 'The `reference` of the request.' }),
  title: z.string().nullable().meta({ description: 'The title of the PDF.' }),
  totalMs: z.number(),
  pages: count.nullable(),
  bytes: count.nullable(),
});
export type RenderSummary = z.output<typeof renderSummary>;
export const renderPage = page(renderSummary);
export const renderDetail = renderSummary.extend({
  message: z.string().nullable(),
  options: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
  timings: z
    .partialRecord(z.enum(PHASES), z.number())
    .meta({ description: 'Duration of each phase in milliseconds.' }),
  console: z.array(z.object({ level: z.string(), text: z.string() })),
  ...pageReport,
  user: z
    .string()
    .nullable()
    .meta({ description: 'Name of the user who rendered it in the dashboard.' }),
});
export type RenderDetail = z.output<typeof renderDetail>;
const RENDER_STATUSES = ['ok', 'error', 'failed', 'rejected', 'client_closed'] as const;
export type RenderStatus = (typeof RENDER_STATUSES)[number];
export const renderQuery = z.object({
  ...cursorQuery,
  status: z.enum(RENDER_STATUSES).optional().meta({
    description: '`error` includes `failed` (renders) and `rejected` (requests).',
  }),
  code: z.string().max(40).optional(),
  key: z
    .string()
    .max(40)
    .optional()
    .meta({ description: 'ID of an API key; `none` for renders without a key.' }),
  reference: z.string().max(MAX_REFERENCE_LENGTH).optional(),
  from: time.optional(),
  to: time.optional(),
});

const percentile = z
  .number()
  .nullable()
  .meta({
    description: `Milliseconds. Null when there are fewer than ${MIN_SAMPLES} successful renders.`,
  });

export const overview = z.object({
  account: z.object({
    id,
    name: z.string(),
    plan: z.string(),
    parallel: count,
    monthlyQuota: count.nullable(),
    state: accountState,
    createdAt: time,
  }),
  usage: z.object({
    period: z.string().meta({
      description:
        'A month in UTC such as `2026-11`, or the first day of a paid billing period such as `2026-11-15`.',
    }),
    count,
  }),
  running: count,
  waiting: count.meta({ description: 'Number of running renders that are queued for a worker.' }),
  lastDay: z.object({
    since: time.meta({
      description:
        '24 hours ago; later for accounts with very many renders, of which only the newest are included.',
    }),
    ok: count,
    failed: count,
    rejected: count.meta({ description: 'Requests that were rejected; not in `failed`.' }),
    p50Ms: percentile,
    p95Ms: percentile,
  }),
  errors: z
    .array(z.object({ code: z.string(), reason: z.string().nullable(), count, lastAt: time }))
    .meta({ description: 'Errors since the same time.' }),
  recent: z.array(renderSummary),
  keys: count,
});
export type Overview = z.output<typeof overview>;
export const accountRename = z.strictObject({ name: nameText() });

export const keyScope = z.enum(KEY_SCOPES);

export const key = z.object({
  id,
  name: z.string(),
  prefix: z.string(),
  last4: z.string(),
  createdAt: time,
  expiresAt: time.nullable(),
  expired: z.boolean(),
  allowedIps: z.array(z.string()),
  scopes: z.array(keyScope).meta({
    description: '`render` allows renders; `read` allows reading the account and its usage.',
  }),
  test: z
    .boolean()
    .meta({ description: 'A test key: its renders have a watermark and are not counted.' }),
  lastUsedAt: time.nullable().meta({ description: 'The last render.' }),
  replacedBy: id
    .nullable()
    .meta({ description: 'ID of the new key after a rotation; this key works until it expires.' }),
});
export type Key = z.output<typeof key>;
export const keys = z.object({ items: z.array(key) });
export const newKey = z.strictObject({
  name: nameText(),
  expiresAt: time.optional(),
  allowedIps: z
    .array(
      z.string({ error: 'a network such as 203.0.113.0/24' }).max(64, 'at most 64 characters'),
      { error: 'an array of networks' },
    )
    .max(MAX_NETWORKS, `at most ${MAX_NETWORKS} networks`)
    .optional(),
  scopes: z
    .array(keyScope, { error: `one or more of ${KEY_SCOPES.join(', ')}` })
    .min(1, `one or more of ${KEY_SCOPES.join(', ')}`)
    .max(KEY_SCOPES.length)
    .optional()
    .meta({ description: 'Default: all.' }),
  test: z.boolean().optional().meta({
    description: 'True for a test key: its renders have a watermark and are not counted.',
  }),
});
/** How long the old key still works, in ms. */
export const ROTATION_OVERLAPS = {
  none: 0,
  hour: 3600e3,
  day: 86400e3,
  week: 7 * 86400e3,
} as const;
export const keyRotation = z.strictObject({
  overlap: z.enum(['none', 'hour', 'day', 'week'], { error: 'none, hour, day or week' }),
});
export const createdKey = z.object({
  key,
  text: z.string().meta({ description: 'The API key. Shown once and not stored.' }),
});
export type CreatedKeyView = z.output<typeof createdKey>;

const day = z.iso.date({ error: 'a day in UTC such as 2027-01-31' });
export const usageQuery = z.object({
  from: day.optional().meta({ description: 'First day. Default: 29 days before the last day.' }),
  to: day
    .optional()
    .meta({ description: 'Last day. Default: today. The range is at most 366 days.' }),
  key: z.string().max(40).optional().meta({
    description: 'ID of an API key, to filter the days; `none` for renders without a key.',
  }),
});
export const usageDay = z.object({
  day,
  ok: count,
  sandbox: count,
  failed: count,
  rejected: count.meta({
    description:
      'Requests that were rejected. On days before this was counted, `failed` includes them.',
  }),
  pages: count,
  bytes: count,
  p50Ms: percentile,
  p95Ms: percentile,
});
export const usage = z.object({
  from: day,
  to: day,
  days: z
    .array(usageDay)
    .meta({ description: 'Every day of the range, including days without renders.' }),
  keys: z.array(
    z.object({
      id: z.string().nullable(),
      name: z.string().nullable(),
      last4: z.string().nullable(),
      ok: count,
      sandbox: count,
      failed: count,
      rejected: count,
    }),
  ),
});
export type Usage = z.output<typeof usage>;

export const billing = z.object({
  mode: billingMode,
  plan: z.string(),
  state: accountState,
  graceUntil: time
    .nullable()
    .meta({ description: 'End of the grace period of an account that is past due.' }),
  periodEnd: time.nullable(),
  cancelAtPeriodEnd: z.boolean(),
  canManage: z.boolean().meta({ description: 'Whether the customer portal is available.' }),
  notice: z.string().nullable().meta({
    description:
      'Message to display when the payment provider is not responding and prices or state may be out of date.',
  }),
  plans: z.array(
    z.object({
      name: z.string(),
      parallel: count,
      monthlyQuota: count.nullable(),
      title: z
        .string()
        .nullable()
        .meta({ description: 'Name of the product at the payment provider.' }),
      price: z
        .string()
        .nullable()
        .meta({ description: 'Label of the price, such as `€29.00 / month`.' }),
      sold: z.boolean().meta({ description: 'Whether the plan is for sale.' }),
      current: z.boolean(),
    }),
  ),
});
export type BillingView = z.output<typeof billing>;
export const checkout = z.strictObject({
  plan: z.string({ error: 'the name of a plan' }).max(40, 'at most 40 characters'),
});
export const redirect = z.object({ url: z.string() });

// Schemas for operators.
export const operatorAccount = z.object({
  id,
  name: z.string(),
  plan: z.string(),
  state: accountState,
  intranet: z.boolean(),
  rendererReuse: z.boolean(),
  keys: count,
  running: count,
  usage: count,
  members: count,
  createdAt: time,
});
export type OperatorAccount = z.output<typeof operatorAccount>;
export const operatorAccounts = page(operatorAccount);
export const operatorAccountsQuery = z.object({
  ...cursorQuery,
  search: searchText.optional(),
  state: accountState.optional(),
});
export const newAccount = z.strictObject({ name: nameText(), plan: z.string().max(40).optional() });
export const accountChange = z.strictObject({
  plan: z.string().max(40).optional(),
  state: accountState.optional(),
  intranet: z.boolean().optional(),
  rendererReuse: z.boolean().optional(),
});

export const operatorUser = z.object({
  id,
  email: z.string(),
  name: z.string(),
  operator: z.boolean(),
  disabled: z.boolean(),
  twoFactor: z.boolean(),
  company: z.boolean().meta({ description: 'Linked to SSO.' }),
  accounts: z.array(z.object({ id, name: z.string(), role: z.string() })),
  lastSignInAt: time.nullable(),
});
export const operatorUsers = page(operatorUser);
export type OperatorUser = z.output<typeof operatorUser>;
export const operatorUsersQuery = z.object({ ...cursorQuery, search: searchText.optional() });
export const operatorUserChange = z.strictObject({
  operator: z.boolean().optional(),
  disabled: z.boolean().optional(),
  company: z.literal(false).optional().meta({
    description: 'Unlinks SSO. The next SSO sign-in with this email address is linked to the user.',
  }),
});

export const live = z.object({
  at: time,
  processes: z.array(
    z.object({
      id,
      pool: z.string(),
      at: time,
      startedAt: time,
      queue: z.object({ waiting: count, oldestMs: z.number() }),
      workers: z.array(
        z.object({ address: z.string(), state: z.string(), capacity: count, busy: count }),
      ),
    }),
  ),
  waitingByAccount: z.array(z.object({ id, name: z.string().nullable(), waiting: count })),
  lastMinutes: z
    .array(z.object({ at: time, ok: count, failed: count, rejected: count }))
    .meta({ description: 'Counts of the last 30 minutes, from all API processes.' }),
});
export type Live = z.output<typeof live>;

export const health = z.object({
  status: z.enum(['ok', 'degraded', 'down']),
  checks: z.array(
    z.object({
      name: z.string(),
      status: z.enum(['ok', 'warn', 'fail']),
      message: z.string(),
      hint: z.string().nullable(),
    }),
  ),
});
export type Health = z.output<typeof health>;
