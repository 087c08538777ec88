// The routes for the audit log: of one account for its members, of the installation for operators.

import { after, pageOf } from '../../http/cursor.ts';
import type { AuditDocument, Document, Store } from '../../store/store.ts';
import { auditPage, auditQuery, operatorAuditPage } from '../contract/users.ts';
import { accountNames } from '../kit/account-names.ts';
import { type ConsoleRoute, route } from '../kit/route.ts';

const shown = ({ _id, at, actor, action, target, details, ip }: AuditDocument) => ({
  id: _id,
  at: at.toISOString(),
  actor,
  action,
  target: target ?? null,
  details: details ?? {},
  ip: ip ?? null,
});

export function auditRoutes({ store }: { store: Store }): ConsoleRoute[] {
  async function entries(
    filter: Document,
    { cursor, limit }: { cursor?: string | undefined; limit: number },
  ) {
    const find = store.console.audit.find(
      { $and: [filter, after(cursor, 'at')] },
      { sort: { at: -1, _id: -1 }, limit: limit + 1, ...store.limits },
    );
    return pageOf(await store.limited(find.toArray()), limit, ({ at }) => at);
  }

  return [
    route({
      method: 'get',
      path: '/accounts/:account/audit',
      id: 'audit',
      summary: 'List the audit log of the account, newest first.',
      access: { permission: 'audit.read' },
      query: auditQuery,
      answer: auditPage,
      handle: async ({ account, query }) => {
        const { items, next } = await entries({ account: account.id }, query);
        return { items: items.map(shown), next };
      },
    }),
    route({
      method: 'get',
      path: '/operator/audit',
      id: 'operatorAudit',
      summary: 'List the audit log of the installation, newest first.',
      access: 'operator',
      query: auditQuery,
      answer: operatorAuditPage,
      handle: async ({ query }) => {
        const { items, next } = await entries({}, query);
        const names = await accountNames(store, [
          ...new Set(items.flatMap(({ account }) => account ?? [])),
        ]);
        return {
          items: items.map(item => ({
            ...shown(item),
            account:
              item.account === undefined
                ? null
                : { id: item.account, name: names.get(item.account) ?? null },
          })),
          next,
        };
      },
    }),
  ];
}
