// Which account the person gets who sets up an installation: the one that waits for an owner, else a new one.
import { type AccountSettings, createAccounts } from '../../accounts/accounts.ts';
import type { Plan } from '../../accounts/plans.ts';
import type { Store, TeamDocument } from '../../store/store.ts';
import { createTeams } from '../users/teams.ts';

/** What `npm start` makes at its first start. */
export const WAITING_ACCOUNT = 'default';

export interface FirstOwner {
  /** The id of the account `default` when nobody owns it. */
  waiting(): Promise<string | undefined>;
  /** Makes the person its owner. False when it has got one meanwhile. */
  own(accountId: string, userId: string): Promise<boolean>;
  /** Makes the person an owner, whoever else is one. False when there is no account of this name. */
  addOwner(accountName: string, userId: string): Promise<boolean>;
  /** Makes the account with the largest plan, and the person its owner. Rejects with ApiError `validation_error` for a name that is taken. */
  ownNew(name: string, userId: string): Promise<string>;
  isTaken(name: string): Promise<boolean>;
  /** Whether there is any account. */
  hasAccounts(): Promise<boolean>;
}

export function createFirstOwner(store: Store, plans: readonly Plan[]): FirstOwner {
  const teams = createTeams(store);
  const { limits, limited } = store;
  const byName = (name: string) => limited(store.accounts.findOne({ name }, { projection: { _id: 1 }, ...limits }));

  const hasOwner = async (accountId: string) => (await teams.of(accountId)).members.some(({ role }) => role === 'owner');

  const withOwner = (members: TeamDocument['members'], user: string): TeamDocument['members'] => [
    ...members.filter(member => member.user !== user),
    { user, role: 'owner', since: new Date() },
  ];

  async function own(accountId: string, userId: string): Promise<boolean> {
    let owned = false;
    await teams.change(accountId, ({ members }) => {
      owned = !members.some(({ role }) => role === 'owner');
      return { members: owned ? withOwner(members, userId) : members };
    });
    return owned;
  }

  return {
    own,
    addOwner: async (name, userId) => {
      const account = await byName(name);
      if (account) await teams.change(account._id, ({ members }) => ({ members: withOwner(members, userId) }));
      return account !== null;
    },
    waiting: async () => {
      const account = await byName(WAITING_ACCOUNT);
      return account && !(await hasOwner(account._id)) ? account._id : undefined;
    },
    ownNew: async (name, userId) => {
      const largest = plans.reduce((best, plan) => (plan.parallel > best.parallel ? plan : best));
      const settings: AccountSettings = { plan: largest.name };
      // Keys are not touched here, so no pepper is needed.
      const { id } = await createAccounts(store, { plans, peppers: [] }).createAccount(name, settings);
      await own(id, userId);
      return id;
    },
    isTaken: async name => (await byName(name)) !== null,
    hasAccounts: async () => (await limited(store.accounts.findOne({}, { projection: { _id: 1 }, ...limits }))) !== null,
  };
}
