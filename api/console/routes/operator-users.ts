// The operators' routes for users: list them, change their operator role, disable and enable them.
import { invalid } from '../../../common/contract/errors.ts';
import { after, pageOf } from '../../http/cursor.ts';
import type { Document, Store, TeamDocument, UserDocument } from '../../store/store.ts';
import type { Operators, UserChange } from '../auth/operators.ts';
import { operatorUserChange, operatorUsers, operatorUsersQuery } from '../contract/accounts.ts';
import { accountNames } from '../kit/account-names.ts';
import { type ConsoleRoute, route } from '../kit/route.ts';
import { beginsWith } from '../kit/search.ts';
import type { Audit } from '../security/audit.ts';

interface Deps {
  store: Store;
  operators: Operators;
  audit: Audit;
}

/** The actions for the audit log. */
function actions(before: UserDocument, { operator, disabled, company }: UserChange): string[] {
  return [
    ...(operator !== undefined && operator !== before.operator
      ? [operator ? 'user.made_operator' : 'user.unmade_operator']
      : []),
    ...(disabled !== undefined && disabled !== (before.disabled ?? false)
      ? [disabled ? 'user.disabled' : 'user.enabled']
      : []),
    ...(company === false && before.identities.length > 0 ? ['user.company_unlinked'] : []),
  ];
}

interface Membership {
  team: TeamDocument;
  /** Of the account. */
  name: string;
}

async function membershipsOf(store: Store, ids: string[]): Promise<Membership[]> {
  const { limits, limited } = store;
  const found = await limited(
    store.console.teams
      .find({ 'members.user': { $in: ids } }, { projection: { invitations: 0 }, ...limits })
      .toArray(),
  );
  const names = await accountNames(
    store,
    found.map(({ _id }) => _id),
  );
  return found.flatMap(team => (names.has(team._id) ? [{ team, name: names.get(team._id)! }] : []));
}

const shown = (
  { _id, email, name, operator, disabled, twoFactor, lastSignInAt, identities }: UserDocument,
  memberships: readonly Membership[],
) => ({
  id: _id,
  email,
  name,
  operator,
  disabled: disabled ?? false,
  twoFactor: twoFactor !== undefined,
  company: identities.length > 0,
  accounts: memberships.flatMap(({ team, name: account }) =>
    team.members
      .filter(({ user }) => user === _id)
      .map(({ role }) => ({ id: team._id, name: account, role })),
  ),
  lastSignInAt: lastSignInAt?.toISOString() ?? null,
});

/** Secrets that are not read from the database. */
const WITHOUT_SECRETS = {
  password: 0,
  'twoFactor.secret': 0,
  'twoFactor.recoveryCodes': 0,
  twoFactorPending: 0,
} as const;

export const operatorUserRoutes = (deps: Deps): ConsoleRoute[] => [
  listUsers(deps),
  changeUser(deps),
];

const listUsers = ({ store }: Deps) =>
  route({
    method: 'get',
    path: '/operator/users',
    id: 'operatorUsers',
    summary:
      'List all users, newest first. `search`: the beginning of an email address or a name, or an ID.',
    access: 'operator',
    query: operatorUsersQuery,
    answer: operatorUsers,
    handle: async ({ query: { search, cursor, limit } }) => {
      const { limits, limited } = store;
      const filters: Document[] = [after(cursor, 'createdAt')];
      if (search)
        filters.push({
          $or: [{ email: beginsWith(search) }, { name: beginsWith(search) }, { _id: search }],
        });
      const found = store.console.users.find(
        { $and: filters },
        {
          sort: { createdAt: -1, _id: -1 },
          limit: limit + 1,
          projection: WITHOUT_SECRETS,
          ...limits,
        },
      );
      const { items, next } = pageOf(
        await limited(found.toArray()),
        limit,
        ({ createdAt }) => createdAt,
      );
      const memberships = await membershipsOf(
        store,
        items.map(({ _id }) => _id),
      );
      return { items: items.map(user => shown(user, memberships)), next };
    },
  });

const changeUser = ({ operators, audit }: Deps) =>
  route({
    method: 'patch',
    path: '/operator/users/:user',
    id: 'changeUser',
    summary:
      'Update a user: add or remove administrator access, disable (ends all sessions) or enable, unlink the SSO identity.',
    access: 'operator',
    body: operatorUserChange,
    answer: 'none',
    handle: async call => {
      const change = call.body;
      if (Object.keys(change).length === 0)
        throw invalid(
          'Nothing to change. Send at least one of `operator`, `disabled` and `company`.',
        );
      const user = call.params['user']!;
      const before = await operators.change(call.signedIn.user.id, user, change);
      for (const action of actions(before, change))
        await audit.record(call, { action, target: before.email }, 'installation');
    },
  });
