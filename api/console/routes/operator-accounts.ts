// Accounts as who runs the installation sees and changes them, over all customers.
import type { Account, Accounts } from '../../accounts/accounts.ts';
import type { Document, Store } from '../../store/store.ts';
import {
  accountChange,
  newAccount,
  operatorAccount,
  operatorAccounts,
  operatorAccountsQuery,
} from '../contract/accounts.ts';
import { invited, newInvitation } from '../contract/users.ts';
import { after, pageOf } from '../kit/cursor.ts';
import { type ConsoleCall, type ConsoleRoute, route } from '../kit/route.ts';
import { beginsWith } from '../kit/search.ts';
import { type Audit, accountChanged, accountCreated } from '../security/audit.ts';
import type { Invitations } from '../users/invitations.ts';
import { invitationLink, shownInvitation } from './team.ts';

interface Deps {
  publicUrl: string;
  store: Store;
  accounts: Accounts;
  invitations: Invitations;
  audit: Audit;
}

/** Stands in the log of the account itself: its people see what was done to them. */
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

export function operatorAccountRoutes({
  publicUrl,
  store,
  accounts,
  invitations,
  audit,
}: Deps): ConsoleRoute[] {
  const shown = async (account: Account) => (await withMembers(store, [account]))[0]!;

  return [
    route({
      method: 'get',
      path: '/operator/accounts',
      id: 'operatorAccounts',
      summary: 'All accounts, newest first; `search` is the beginning of a name, or an id',
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
    }),
    route({
      method: 'post',
      path: '/operator/accounts',
      id: 'createAccount',
      summary: 'Make an account; invite its owner afterwards',
      access: 'operator',
      body: newAccount,
      answer: operatorAccount,
      status: 201,
      handle: async call => {
        const { name, plan } = call.body;
        const account = await accounts.createAccount(name, plan === undefined ? {} : { plan });
        await audit.record(about(call, account.id), accountCreated(account));
        return shown(account);
      },
    }),
    route({
      method: 'get',
      path: '/operator/accounts/:id',
      id: 'operatorAccount',
      summary: 'One account',
      access: 'operator',
      answer: operatorAccount,
      handle: async ({ params }) => shown(await accounts.accountById(params['id']!)),
    }),
    route({
      method: 'patch',
      path: '/operator/accounts/:id',
      id: 'changeAccount',
      summary:
        'Change plan, state or intranet; the state `paused` suspends the account from the next request on',
      access: 'operator',
      body: accountChange,
      answer: operatorAccount,
      handle: async call => {
        const { plan, state, intranet } = call.body;
        const id = call.params['id']!;
        const before = await accounts.accountById(id);
        const account = await accounts.setAccountById(id, {
          ...(plan !== undefined && { plan }),
          ...(state !== undefined && { state }),
          ...(intranet !== undefined && { intranet }),
        });
        await audit.record(about(call, id), accountChanged(before, account));
        return shown(account);
      },
    }),
    route({
      method: 'post',
      path: '/operator/accounts/:id/invitations',
      id: 'inviteAsOperator',
      summary:
        'Invite a person into an account, such as its first owner, by a link that is shown once and works once, for 7 days',
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
    }),
  ];
}
