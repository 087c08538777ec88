// An account's usage in the management API: by day and by key, as JSON for the page and as CSV for
// a spreadsheet.
import type { Store } from '../../store/store.ts';
import { usage, usageQuery } from '../contract/accounts.ts';
import { type ConsoleRoute, route } from '../kit/route.ts';
import { csv } from '../reports/csv.ts';
import { keyNames } from '../reports/key-names.ts';
import { figuresOf, rangeOf, readDays, usageOf } from '../reports/usage-days.ts';

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
];

export const usageRoutes = ({ store }: { store: Store }): ConsoleRoute[] => [
  route({
    method: 'get',
    path: '/accounts/:account/usage',
    id: 'getUsage',
    summary:
      'Renders by day and by key. It is a few seconds behind; what is billed is the count of the period.',
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
    summary: 'The same as a table with a line for each day and key that has renders.',
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
        const { ok, sandbox, failed, pages, bytes, p50Ms, p95Ms } = figuresOf([day]);
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
