// The route for the settings of an account: its name.
import type { Accounts } from '../../accounts/accounts.ts';
import { accountRename } from '../contract/accounts.ts';
import { type ConsoleRoute, route } from '../kit/route.ts';
import type { Audit } from '../security/audit.ts';

export const settingsRoutes = ({
  accounts,
  audit,
}: {
  accounts: Pick<Accounts, 'renameAccount'>;
  audit: Audit;
}): ConsoleRoute[] => [
  route({
    method: 'patch',
    path: '/accounts/:account',
    id: 'renameAccount',
    summary: 'Rename the account.',
    access: { permission: 'account.rename' },
    body: accountRename,
    answer: 'none',
    handle: async call => {
      const { name } = call.body;
      const before = await accounts.renameAccount(call.account.id, name);
      if (before !== name)
        await audit.record(call, { action: 'account.renamed', target: name, details: { before } });
    },
  }),
];
