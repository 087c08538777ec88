// GET /v1/account and GET /v1/usage: what an API key with the scope `read` can read.

import type { Network } from '../../common/addresses.ts';
import {
  type AccountAnswer,
  type UsageAnswer,
  usageQuerySchema,
} from '../../common/contract/account.ts';
import { OPERATIONS } from '../../common/contract/openapi.ts';
import type { AcceptedKeys } from '../accounts/accepted-keys.ts';
import { orUnavailable, unauthorized } from '../accounts/account-errors.ts';
import type { AccountRequests } from '../accounts/account-requests.ts';
import { type FoundStatus, STATUS_FIELDS, statusOf } from '../accounts/account-status.ts';
import type { Plan } from '../accounts/plans.ts';
import { rangeOf, readUsage, type UsageCounts } from '../history/usage-days.ts';
import { bearer, boundRequests } from '../http/caller.ts';
import { checked, strict } from '../http/checked.ts';
import type { Context, Middleware, Route } from '../http/state.ts';
import type { Store } from '../store/store.ts';

interface Deps {
  keys: AcceptedKeys;
  requests: AccountRequests;
  trustedProxies: readonly Network[];
  store: Store;
  plans: readonly Plan[];
  /** The usage is written with the render log, which needs the dashboard. */
  usage: boolean;
}

const noParameters = strict(undefined);
const usageQuery = usageQuerySchema.strict();

export function accountRoutes({
  keys,
  requests,
  trustedProxies,
  store,
  plans,
  usage,
}: Deps): Route[] {
  const answered = (answer: (ctx: Context) => Promise<object>): Middleware[] => [
    bearer(keys, trustedProxies, 'read'),
    boundRequests(requests, ({ state }) => state.accepted),
    async ctx => {
      ctx.body = await answer(ctx).catch(error => {
        throw orUnavailable(error);
      });
      ctx.set('Cache-Control', 'no-store');
    },
  ];

  async function account(ctx: Context): Promise<AccountAnswer> {
    checked(noParameters, { ...ctx.query }, 'parameter');
    const found = await store.limited(
      store.accounts.findOne<FoundStatus>(
        { _id: ctx.state.accepted.accountId },
        { projection: STATUS_FIELDS, ...store.limits },
      ),
    );
    if (!found) throw unauthorized();
    const { parallel, monthlyQuota, ...status } = statusOf(found, plans);
    return {
      ...status,
      concurrency_limit: parallel,
      ...(monthlyQuota !== null && { monthly_quota: monthlyQuota }),
    };
  }

  async function usageOfAccount(ctx: Context): Promise<UsageAnswer> {
    const { accountId } = ctx.state.accepted;
    const { group_by = 'day', ...days } = checked(usageQuery, { ...ctx.query }, 'parameter');
    const range = rangeOf(days, Date.now());
    const report = await readUsage(store, accountId, range);
    return {
      ...range,
      items:
        group_by === 'day'
          ? report.days.map(item => ({ day: item.day, ...shown(item) }))
          : report.keys.map(item => ({ key: shownKey(item), ...shown(item) })),
      total: shown(report.total),
    };
  }

  const { account: ofAccount, usage: ofUsage } = OPERATIONS;
  return [
    { ...ofAccount, handle: answered(account) },
    ...(usage ? [{ ...ofUsage, handle: answered(usageOfAccount) }] : []),
  ];
}

const shown = ({ ok, sandbox, failed, rejected, pages, bytes }: UsageCounts) => ({
  counted: ok,
  sandbox,
  failed,
  rejected,
  pages,
  bytes,
});

const shownKey = ({ id, name, last4 }: Record<'id' | 'name' | 'last4', string | null>) => ({
  ...(id !== null && { id }),
  ...(name !== null && { name }),
  ...(last4 !== null && { last4 }),
});
