// The routes for the render log of an account: a paginated list, and one render in detail.
import type { z } from 'zod';
import { ApiError, REJECTION_CODES } from '../../../common/contract/errors.ts';
import { keyNames } from '../../history/key-names.ts';
import { after, pageOf } from '../../http/cursor.ts';
import type { Document, Store } from '../../store/store.ts';
import { type RenderStatus, renderDetail, renderPage, renderQuery } from '../contract/accounts.ts';
import { type ConsoleRoute, route } from '../kit/route.ts';
import { detailOf, SUMMARY_FIELDS, summaryOf } from '../reports/render-summary.ts';

const STATUS_FILTERS: Record<RenderStatus, Document[]> = {
  ok: [{ outcome: 'ok' }],
  client_closed: [{ outcome: 'client_closed' }],
  error: [{ outcome: 'error' }],
  failed: [{ outcome: 'error' }, { code: { $nin: REJECTION_CODES } }],
  rejected: [{ outcome: 'error' }, { code: { $in: REJECTION_CODES } }],
};

/** The indexes cover account with key or outcome, by time. Only errors have a code. */
const filterOf = (
  account: string,
  { status, code, key, reference, from, to }: z.output<typeof renderQuery>,
): Document[] => [
  { account },
  ...(status === undefined ? [] : STATUS_FILTERS[status]),
  ...(code === undefined ? [] : [{ outcome: 'error' }, { code }]),
  ...(key === undefined ? [] : [{ key: key === 'none' ? { $exists: false } : key }]),
  ...(reference === undefined ? [] : [{ reference }]),
  ...(from === undefined ? [] : [{ at: { $gte: new Date(from) } }]),
  ...(to === undefined ? [] : [{ at: { $lt: new Date(to) } }]),
];

export const renderRoutes = ({ store }: { store: Store }): ConsoleRoute[] => {
  const { renders, users } = store.console;

  async function userName(id: string | undefined): Promise<string | null> {
    if (id === undefined) return null;
    const user = await store.limited(
      users.findOne({ _id: id }, { projection: { name: 1 }, ...store.limits }),
    );
    return user?.name ?? id;
  }

  return [
    route({
      method: 'get',
      path: '/accounts/:account/renders',
      id: 'listRenders',
      summary: 'List the renders, newest first. New renders take a few seconds to appear.',
      access: { permission: 'renders.read' },
      query: renderQuery,
      answer: renderPage,
      handle: async ({ account, query }) => {
        const { limit } = query;
        const filter = { $and: [...filterOf(account.id, query), after(query.cursor, 'at')] };
        const found = renders.find(filter, {
          projection: SUMMARY_FIELDS,
          sort: { at: -1, _id: -1 },
          limit: limit + 1,
          ...store.limits,
        });
        const [documents, nameOf] = await Promise.all([
          store.limited(found.toArray()),
          keyNames(store, account.id),
        ]);
        const { items, next } = pageOf(documents, limit, ({ at }) => at);
        return { items: items.map(render => summaryOf(render, nameOf)), next };
      },
    }),
    route({
      method: 'get',
      path: '/accounts/:account/renders/:render',
      id: 'getRender',
      summary:
        'Retrieve a render: its request, the duration of its phases, and its console output.',
      access: { permission: 'renders.read' },
      answer: renderDetail,
      handle: async ({ account, params }) => {
        const render = await store.limited(
          renders.findOne({ _id: params['render']!, account: account.id }, store.limits),
        );
        if (!render)
          throw new ApiError(
            'not_found',
            'Render not found. New renders take a few seconds to appear; old ones are deleted.',
          );
        const [nameOf, user] = await Promise.all([
          keyNames(store, account.id),
          userName(render.user),
        ]);
        return detailOf(render, nameOf, user);
      },
    }),
  ];
};
