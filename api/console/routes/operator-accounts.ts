// The operators' routes for accounts: list, create, change, delete and invite to any account.
import type { Log } from '../../../common/log.ts';
import { AccountDeletion } from '../../accounts/account-deletion.ts';
import type { Account, Accounts } from '../../accounts/accounts.ts';
import { after, pageOf } from '../../http/cursor.ts';
import type { Document, Store } from '../../store/store.ts';
import {
  accountChange,
  newAccount,
  operatorAccount,
  operatorAccounts,
  operatorAccountsQuery,
} from '../contract/accounts.ts';
import { invited, newInvitation } from '../contract/users.ts';
import { type ConsoleCall, type ConsoleRoute, route } from '../kit/route.ts';
import { beginsWith } from '../kit/search.ts';
import { type Audit, accountChanged, accountCreated, accountDeleted } from '../security/audit.ts';
import type { Invitations } from '../users/invitations.ts';
import { invitationLink, shownInvitation } from './team.ts';

interface Deps {
  publicUrl: string;
  store: Store;
  accounts: Accounts;
  invitations: Invitations;
  audit: Audit;
  log: Log;
}

/** Writes to the audit log of the account, where its members can see the change. */
const about = (call: ConsoleCall, account: string): ConsoleCall => ({
  ...call,
  account: { id: account, role: 'operator' },
});

async function withMembers(store: Store, found: Account[]) {
  const teams = store.console.teams.aggregate<{ _id: string; members: number }>(
    [
      { $match: { _id: { $in: found.map(({ id }) => id) } } },
      { $project: { members: { $size: '$members' } } },
    ],
    store.limits,
  );
  const members = new Map(
    (await store.limited(teams.toArray())).map(team => [team._id, team.members]),
  );
  return found.map(account => ({
    ...account,
    members: members.get(account.id) ?? 0,
    createdAt: account.createdAt.toISOString(),
  }));
}

const shown = async (store: Store, account: Account) => (await withMembers(store, [account]))[0]!;

export const operatorAccountRoutes = (deps: Deps): ConsoleRoute[] => [
  listAccounts(deps),
  createAccount(deps),
  showAccount(deps),
  changeAccount(deps),
  deleteAccount(deps),
  inviteToAccount(deps),
];

const listAccounts = ({ store, accounts }: Deps) =>
  route({
    method: 'get',
    path: '/operator/accounts',
    id: 'operatorAccounts',
    summary: 'List all accounts, newest first. `search`: the beginning of a name, or an ID.',
    access: 'operator',
    query: operatorAccountsQuery,
    answer: operatorAccounts,
    handle: async ({ query: { search, state, cursor, limit } }) => {
      const filters: Document[] = [after(cursor, 'createdAt')];
      if (search) filters.push({ $or: [{ name: beginsWith(search) }, { _id: search }] });
      if (state) filters.push({ state });
      const found = await accounts.findAccounts({ $and: filters }, limit + 1);
      const { items, next } = pageOf(
        found.map(account => ({ ...account, _id: account.id })),
        limit,
        ({ createdAt }) => createdAt,
      );
      return { items: await withMembers(store, items), next };
    },
  });

const createAccount = ({ store, accounts, audit }: Deps) =>
  route({
    method: 'post',
    path: '/operator/accounts',
    id: 'createAccount',
    summary: 'Create an account. Then invite its owner.',
    access: 'operator',
    body: newAccount,
    answer: operatorAccount,
    status: 201,
    handle: async call => {
      const { name, plan } = call.body;
      const account = await accounts.createAccount(name, plan === undefined ? {} : { plan });
      await audit.record(about(call, account.id), accountCreated(account));
      return shown(store, account);
    },
  });

const showAccount = ({ store, accounts }: Deps) =>
  route({
    method: 'get',
    path: '/operator/accounts/:id',
    id: 'operatorAccount',
    summary: 'Retrieve an account.',
    access: 'operator',
    answer: operatorAccount,
    handle: async ({ params }) => shown(store, await accounts.accountById(params['id']!)),
  });

const changeAccount = ({ store, accounts, audit }: Deps) =>
  route({
    method: 'patch',
    path: '/operator/accounts/:id',
    id: 'changeAccount',
    summary:
      'Update the plan, the state, `intranet` or `rendererReuse`. The state `paused` suspends the account immediately.',
    access: 'operator',
    body: accountChange,
    answer: operatorAccount,
    handle: async call => {
      const { plan, state, intranet, rendererReuse } = call.body;
      const id = call.params['id']!;
      const before = await accounts.accountById(id);
      const account = await accounts.setAccountById(id, {
        ...(plan !== undefined && { plan }),
        ...(state !== undefined && { state }),
        ...(intranet !== undefined && { intranet }),
        ...(rendererReuse !== undefined && { rendererReuse }),
      });
      await audit.record(about(call, id), accountChanged(before, account));
      return shown(store, account);
    },
  });

const deleteAccount = ({ store, accounts, audit, log }: Deps) => {
  const deletion = new AccountDeletion(store);
  return route({
    method: 'delete',
    path: '/operator/accounts/:id',
    id: 'deleteAccount',
    summary:
      'Delete an account with its API keys, renders and PDFs. The account is gone with the response; its data is deleted afterwards.',
    access: 'operator',
    answer: 'none',
    handle: async call => {
      const account = await accounts.accountById(call.params['id']!);
      const { id } = account;
      await deletion.begin(id, session =>
        audit.record(about(call, id), accountDeleted(account), 'account', session),
      );
      // It may take minutes. After a failure, the sweep of deleted accounts goes on.
      deletion.finish(id).catch(error => {
        log.warn({ accountId: id, reason: error.message }, 'could not finish deleting an account');
      });
    },
  });
};

const inviteToAccount = ({ publicUrl, accounts, invitations, audit }: Deps) =>
  route({
    method: 'post',
    path: '/operator/accounts/:id/invitations',
    id: 'inviteAsOperator',
    summary:
      'Invite a user to an account, such as its first owner. Returns a link that works once and expires after 7 days.',
    access: 'operator',
    body: newInvitation,
    answer: invited,
    status: 201,
    handle: async call => {
      const { email, role } = call.body;
      const account = await accounts.accountById(call.params['id']!);
      const { user } = call.signedIn;
      const { invitation, token } = await invitations.create(account.id, {
        email,
        role,
        by: user.id,
        asOperator: true,
      });
      await audit.record(about(call, account.id), {
        action: 'invitation.created',
        target: email,
        details: { role },
      });
      return {
        invitation: shownInvitation(invitation, user.name),
        link: invitationLink(publicUrl, token),
      };
    },
  });
