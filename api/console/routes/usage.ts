// The routes for the usage of an account by day and key: as JSON for the dashboard, as CSV for
// spreadsheets.

import { keyNames } from '../../history/key-names.ts';
import { figuresOf, rangeOf, readDays, usageOf } from '../../history/usage-days.ts';
import type { Store } from '../../store/store.ts';
import { usage, usageQuery } from '../contract/accounts.ts';
import { type ConsoleRoute, route } from '../kit/route.ts';
import { csv } from '../reports/csv.ts';

const HEAD = [
  'day',
  'key',
  'key_name',
  'ok',
  'sandbox',
  'failed',
  'pages',
  'bytes',
  'p50_ms',
  'p95_ms',
  'rejected',
];

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
    handle: async ({ account: { id }, query }) => {
      const range = rangeOf(query, Date.now());
      const [all, nameOf] = await Promise.all([readDays(store, id, range), keyNames(store, id)]);
      return usageOf(range, all, nameOf, query.key);
    },
  }),
  route({
    method: 'get',
    path: '/accounts/:account/usage.csv',
    id: 'getUsageCsv',
    summary: 'Export the usage as CSV, with a line for each day and key that has renders.',
    access: { permission: 'usage.read' },
    query: usageQuery,
    answer: 'text/csv',
    handle: async ({ account: { id }, query, ctx }) => {
      const range = rangeOf(query, Date.now());
      const [days, nameOf] = await Promise.all([
        readDays(store, id, range, query.key),
        keyNames(store, id),
      ]);
      const lines = days.map(day => {
        const { ok, sandbox, failed, rejected, pages, bytes, p50Ms, p95Ms } = figuresOf([day]);
        return [
          day._id.day,
          day._id.key,
          nameOf(day._id.key).name,
          ok,
          sandbox,
          failed,
          pages,
          bytes,
          p50Ms,
          p95Ms,
          rejected,
        ];
      });
      ctx.set(
        'Content-Disposition',
        `attachment; filename="pressroom-usage-${range.from}-${range.to}.csv"`,
      );
      ctx.body = csv([HEAD, ...lines]);
    },
  }),
];
