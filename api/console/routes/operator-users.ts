// People as who runs the installation sees them: who is an operator, and who may sign in.
import { invalid } from '../../../common/contract/errors.ts';
import type { Document, Store, TeamDocument, UserDocument } from '../../store/store.ts';
import type { Operators, UserChange } from '../auth/operators.ts';
import { operatorUserChange, operatorUsers, operatorUsersQuery } from '../contract/accounts.ts';
import { accountNames } from '../kit/account-names.ts';
import { after, pageOf } from '../kit/cursor.ts';
import { type ConsoleRoute, route } from '../kit/route.ts';
import { beginsWith } from '../kit/search.ts';
import type { Audit } from '../security/audit.ts';

interface Deps {
  store: Store;
  operators: Operators;
  audit: Audit;
}

/** The actions for the audit log. */
function acts(before: UserDocument, { operator, disabled, company }: UserChange): string[] {
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

export function operatorUserRoutes({ store, operators, audit }: Deps): ConsoleRoute[] {
  const { users, teams } = store.console;
  const { limits, limited } = store;

  async function teamsOf(ids: string[]): Promise<{ team: TeamDocument; name: string }[]> {
    const found = await limited(
      teams
        .find({ 'members.user': { $in: ids } }, { projection: { invitations: 0 }, ...limits })
        .toArray(),
    );
    const names = await accountNames(
      store,
      found.map(({ _id }) => _id),
    );
    return found.flatMap(team =>
      names.has(team._id) ? [{ team, name: names.get(team._id)! }] : [],
    );
  }

  return [
    route({
      method: 'get',
      path: '/operator/users',
      id: 'operatorUsers',
      summary:
        'All people, newest first; `search` is the beginning of an address or a name, or an id',
      access: 'operator',
      query: operatorUsersQuery,
      answer: operatorUsers,
      handle: async ({ query: { search, cursor, limit } }) => {
        const filters: Document[] = [after(cursor, 'createdAt')];
        if (search)
          filters.push({
            $or: [{ email: beginsWith(search) }, { name: beginsWith(search) }, { _id: search }],
          });
        const sort = { createdAt: -1, _id: -1 } as const;
        // `password` is left behind in the database.
        const projection = {
          password: 0,
          'twoFactor.secret': 0,
          'twoFactor.recoveryCodes': 0,
          twoFactorPending: 0,
        } as const;
        const found = users.find(
          { $and: filters },
          { sort, limit: limit + 1, projection, ...limits },
        );
        const { items, next } = pageOf(
          await limited(found.toArray()),
          limit,
          ({ createdAt }) => createdAt,
        );
        const memberships = await teamsOf(items.map(({ _id }) => _id));
        return {
          items: items.map(
            ({ _id, email, name, operator, disabled, twoFactor, lastSignInAt, identities }) => ({
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
            }),
          ),
          next,
        };
      },
    }),
    route({
      method: 'patch',
      path: '/operator/users/:user',
      id: 'changeUser',
      summary:
        'Make or unmake an operator; disable a person, which ends all sessions at once, or enable; forget the identity at the company',
      access: 'operator',
      body: operatorUserChange,
      answer: 'none',
      handle: async call => {
        const { operator, disabled, company } = call.body;
        if (operator === undefined && disabled === undefined && company === undefined)
          throw invalid(
            'Nothing to change: give at least one of `operator`, `disabled` and `company`.',
          );
        const before = await operators.change(call.signedIn.user.id, call.params['user']!, {
          operator,
          disabled,
          company,
        });
        for (const action of acts(before, { operator, disabled, company }))
          await audit.record(call, { action, target: before.email }, 'installation');
      },
    }),
  ];
}
