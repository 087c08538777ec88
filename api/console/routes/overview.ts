// The route for the overview of an account: plan and usage, running and queued renders, the last 24
// hours, and the latest renders.

import { ApiError } from '../../../common/contract/errors.ts';
import { keysOf } from '../../accounts/account-keys.ts';
import { type FoundStatus, STATUS_FIELDS, statusOf } from '../../accounts/account-status.ts';
import type { Plan } from '../../accounts/plans.ts';
import { NAMES_OF_KEYS, namesOf } from '../../history/key-names.ts';
import type { AccountDocument, Document, Store } from '../../store/store.ts';
import { overview } from '../contract/accounts.ts';
import { MAY } from '../contract/permissions.ts';
import { type ConsoleRoute, route } from '../kit/route.ts';
import { createLastDays } from '../reports/last-day.ts';
import { SUMMARY_FIELDS, summaryOf } from '../reports/render-summary.ts';

const RECENT = 8;

interface Deps {
  store: Store;
  plans: readonly Plan[];
}

type Found = FoundStatus & Pick<AccountDocument, 'createdAt' | 'keys' | 'restrictedKeys'>;

const shown: Document = { ...STATUS_FIELDS, ...NAMES_OF_KEYS, createdAt: 1 };

export const overviewRoutes = ({ store, plans }: Deps): ConsoleRoute[] => {
  const lastDayOf = createLastDays(store);
  const { renders, processes } = store.console;

  async function accountOf(id: string): Promise<Found> {
    const found = await store.limited(
      store.accounts.findOne<Found>({ _id: id }, { projection: shown, ...store.limits }),
    );
    if (!found) throw new ApiError('not_found', 'Account not found.');
    return found;
  }

  /** From the heartbeats of the API processes. The id contains only letters and digits. */
  async function waitingOf(id: string): Promise<number> {
    const field = `queue.byAccount.${id}`;
    const reports = processes.aggregate<{ waiting: number }>(
      [
        { $match: { expires: { $gt: new Date() }, [field]: { $exists: true } } },
        { $group: { _id: null, waiting: { $sum: `$${field}` } } },
      ],
      store.limits,
    );
    return (await store.limited(reports.toArray()))[0]?.waiting ?? 0;
  }

  const recentOf = (id: string) =>
    store.limited(
      renders
        .find(
          { account: id },
          { projection: SUMMARY_FIELDS, sort: { at: -1, _id: -1 }, limit: RECENT, ...store.limits },
        )
        .toArray(),
    );

  return [
    route({
      method: 'get',
      path: '/accounts/:account/overview',
      id: 'getOverview',
      summary: 'Retrieve the overview of the account.',
      access: { permission: 'account.read' },
      answer: overview,
      handle: async ({ account: { id, role } }) => {
        const account = await accountOf(id);
        const [waiting, { lastDay, errors }, recent] = await Promise.all([
          waitingOf(id),
          lastDayOf(id),
          // The billing role sees the usage, but not the renders.
          role === 'operator' || MAY[role].includes('renders.read') ? recentOf(id) : [],
        ]);
        const keys = keysOf(account);
        const nameOf = namesOf(keys);
        const { running, usage, ...status } = statusOf(account, plans);
        return {
          account: { ...status, createdAt: account.createdAt.toISOString() },
          usage,
          running,
          waiting,
          lastDay,
          errors,
          recent: recent.map(render => summaryOf(render, nameOf)),
          keys: keys.length,
        };
      },
    }),
  ];
};
