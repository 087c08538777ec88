// The routes for the usage of an account by day and key: as JSON for the dashboard, as CSV for
// spreadsheets.
import { exportedUsage, rangeOf, readUsage } from '../../history/usage-days.ts';
import type { Store } from '../../store/store.ts';
import { usage, usageQuery } from '../contract/accounts.ts';
import { type ConsoleRoute, route } from '../kit/route.ts';
import { csv } from '../reports/csv.ts';

/** The columns of the CSV, with the field of each. */
const COLUMNS = {
  day: 'day',
  key: 'key',
  key_name: 'name',
  ok: 'ok',
  sandbox: 'sandbox',
  failed: 'failed',
  pages: 'pages',
  bytes: 'bytes',
  p50_ms: 'p50Ms',
  p95_ms: 'p95Ms',
  rejected: 'rejected',
} as const;

export const usageRoutes = ({ store }: { store: Store }): ConsoleRoute[] => [
  route({
    method: 'get',
    path: '/accounts/:account/usage',
    id: 'getUsage',
    summary:
      'Retrieve the renders by day and key. The figures are a few seconds behind. Billing uses the count of the billing period.',
    access: { permission: 'usage.read' },
    query: usageQuery,
    answer: usage,
    handle: ({ account: { id }, query }) =>
      readUsage(store, id, rangeOf(query, Date.now()), query.key),
  }),
  route({
    method: 'get',
    path: '/accounts/:account/usage.csv',
    id: 'getUsageCsv',
    summary:
      'Export the usage as CSV, with a line for each day and key that has renders, at most 100,000.',
    access: { permission: 'usage.read' },
    query: usageQuery,
    answer: 'text/csv',
    handle: async ({ account: { id }, query, ctx }) => {
      const range = rangeOf(query, Date.now());
      const days = await exportedUsage(store, id, range, query.key);
      const lines = days.map(day => Object.values(COLUMNS).map(field => day[field]));
      ctx.set(
        'Content-Disposition',
        `attachment; filename="pressroom-usage-${range.from}-${range.to}.csv"`,
      );
      ctx.body = csv([Object.keys(COLUMNS), ...lines]);
    },
  }),
];
