// The log of an account's renders in the management API: pages of it, the newest first, and one
// render with all that is kept of it.
import { ApiError } from '../../../common/contract/errors.ts';
import type { Document, Store } from '../../store/store.ts';
import { renderDetail, renderPage, renderQuery } from '../contract/accounts.ts';
import { after, pageOf } from '../kit/cursor.ts';
import { type ConsoleRoute, route } from '../kit/route.ts';
import { keyNames } from '../reports/key-names.ts';
import { detailOf, SUMMARY_FIELDS, summaryOf } from '../reports/render-summary.ts';

interface Asked {
  status?: string | undefined;
  code?: string | undefined;
  key?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
}

/** The indexes serve an account with a key or with an outcome, by time. Only errors have a code. */
const filterOf = (account: string, { status, code, key, from, to }: Asked): Document => ({
  account,
  ...((status ?? code) !== undefined && { outcome: status ?? 'error' }),
  ...(code !== undefined && { code }),
  ...(key !== undefined && { key: key === 'none' ? { $exists: false } : key }),
  ...((from ?? to) !== undefined && {
    at: { ...(from && { $gte: new Date(from) }), ...(to && { $lt: new Date(to) }) },
  }),
});

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
      summary: 'The log of renders, the newest first. It is a few seconds behind.',
      access: { permission: 'renders.read' },
      query: renderQuery,
      answer: renderPage,
      handle: async ({ account, query }) => {
        const { limit } = query;
        const wanted = { $and: [filterOf(account.id, query), after(query.cursor, 'at')] };
        const found = renders.find(wanted, {
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
        'One render: what was asked for, where its time went, and what its page wrote to the console.',
      access: { permission: 'renders.read' },
      answer: renderDetail,
      handle: async ({ account, params }) => {
        const render = await store.limited(
          renders.findOne({ _id: params['render']!, account: account.id }, store.limits),
        );
        if (!render)
          throw new ApiError(
            'not_found',
            'There is no such render in the log. It is a few seconds behind, and older renders have gone.',
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
