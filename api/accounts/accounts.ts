// Accounts, as an operator manages them: by unique names, with errors that say how to mend the
// input. What their keys are is account-keys.ts's.

import { ApiError, invalid } from '../../common/contract/errors.ts';
import {
  ACCOUNT_STATES,
  type AccountDocument,
  type AccountState,
  type Document,
  isDuplicate,
  type Store,
} from '../store/store.ts';
import { type CreatedKey, createAccountKeys, type NewKey, type ShownKey } from './account-keys.ts';
import { runningLeases, usageNow } from './account-rules.ts';
import { createAccountId } from './keys.ts';
import { checkName } from './names.ts';
import type { BillingMode, Plan } from './plans.ts';

/** What may be shown of an account. */
export interface Account {
  id: string;
  name: string;
  plan: string;
  state: AccountState;
  intranet: boolean;
  keys: number;
  /** Unexpired leases. */
  running: number;
  /** Renders counted in the running month. */
  usage: number;
  createdAt: Date;
}

export interface AccountSettings {
  plan?: string;
  state?: string;
  intranet?: boolean;
}

/**
 * All throw ApiError: `validation_error` for bad input, `not_found` for an unknown name; database
 * errors pass through.
 */
export interface Accounts {
  createAccount(name: string, settings?: AccountSettings): Promise<Account>;
  /** Sorted by name. */
  listAccounts(): Promise<Account[]>;
  /**
   * Newest first, at most `limit` of those that fit `filter`, a MongoDB filter of the caller's own
   * making.
   */
  findAccounts(filter: Document, limit: number): Promise<Account[]>;
  accountById(id: string): Promise<Account>;
  accountByName(name: string): Promise<Account>;
  setAccount(name: string, settings: AccountSettings): Promise<Account>;
  /**
   * Throws ApiError `conflict` for what Stripe decides: plan and state of an account with a
   * subscription, but for pausing it and ending that.
   */
  setAccountById(id: string, settings: AccountSettings): Promise<Account>;
  /** Returns the name before. Throws ApiError `conflict` for a name that another account has. */
  renameAccount(id: string, name: string): Promise<string>;
  createKey(accountName: string, key: NewKey): Promise<CreatedKey>;
  listKeys(accountName: string): Promise<ShownKey[]>;
  /**
   * Takes effect with the next request that uses the key; running renders continue. Returns the
   * revoked key.
   */
  revokeKey(accountName: string, keyId: string): Promise<ShownKey>;
}

const shown: Document = {
  name: 1,
  plan: 1,
  state: 1,
  intranet: 1,
  createdAt: 1,
  keys: { $size: '$keys' },
  running: runningLeases,
  usage: usageNow,
};

const asAccount = ({ _id, ...rest }: Document): Account => ({ id: _id, ...rest }) as Account;

const unknownAccount = (name: string) =>
  new ApiError(
    'not_found',
    `There is no account named \`${name}\`. List the accounts to see their names.`,
  );

const stateless = () =>
  new ApiError(
    'conflict',
    '`state` decides nothing in this installation, which has no billing: every account is served. Set PRESSROOM_BILLING=manual to suspend accounts.',
  );
const unknownId = () => new ApiError('not_found', 'There is no such account.');
const stripesOwn = () =>
  new ApiError(
    'conflict',
    'Stripe decides plan and state of this account, which has a subscription. It can be paused here; change the rest at Stripe.',
  );

interface AccountsConfig {
  plans: readonly Plan[];
  peppers: readonly string[];
  /** Who sets plan and state. Absent: what Stripe said of an account holds. */
  billing?: { mode: BillingMode };
}

export function createAccounts(
  store: Store,
  { plans, peppers, billing = { mode: 'stripe' } }: AccountsConfig,
): Accounts {
  const ofStripe = billing.mode === 'stripe';
  const { accounts, limits } = store;
  const keys = createAccountKeys(store, peppers);

  function knownPlan(name: string): string {
    const plan = plans.find(known => known.name === name.toLowerCase());
    if (!plan)
      throw invalid(
        `\`plan\`: \`${name}\` is unknown; the plans are ${plans.map(known => known.name).join(', ')}.`,
      );
    return plan.name;
  }

  function knownState(state: string): AccountState {
    const known = ACCOUNT_STATES.find(word => word === state);
    if (!known)
      throw invalid(
        `\`state\`: \`${state}\` is unknown; the states are ${ACCOUNT_STATES.join(', ')}.`,
      );
    return known;
  }

  async function createAccount(
    name: string,
    { plan = plans[0]!.name, state = 'active', intranet = false }: AccountSettings = {},
  ) {
    checkName('name', name);
    const account: AccountDocument = {
      _id: createAccountId(),
      name,
      plan: knownPlan(plan),
      state: knownState(state),
      ...(state === 'past_due' && { pastDueSince: new Date() }),
      intranet,
      keys: [],
      leases: [],
      usage: { period: '0000-00', count: 0 },
      createdAt: new Date(),
    };
    try {
      await store.limited(accounts.insertOne(account, limits));
    } catch (error) {
      if (isDuplicate(error))
        throw invalid(
          `\`name\`: there is an account named \`${name}\` already. Choose another name.`,
        );
      throw error;
    }
    return {
      id: account._id,
      name,
      plan: account.plan,
      state: account.state,
      intranet,
      keys: 0,
      running: 0,
      usage: 0,
      createdAt: account.createdAt,
    };
  }

  async function listAccounts() {
    return (
      await accounts.find({}, { projection: shown, sort: { name: 1 }, ...limits }).toArray()
    ).map(asAccount);
  }

  async function findAccounts(filter: Document, limit: number) {
    const sort = { createdAt: -1, _id: -1 } as const;
    return (
      await store.limited(
        accounts.find(filter, { projection: shown, sort, limit, ...limits }).toArray(),
      )
    ).map(asAccount);
  }

  async function accountById(id: string) {
    const account = await store.limited(
      accounts.findOne({ _id: id }, { projection: shown, ...limits }),
    );
    if (!account) throw unknownId();
    return asAccount(account);
  }

  /** What Stripe does not decide can always be changed. */
  function mayChange({ plan, state }: AccountSettings): Document {
    if (!ofStripe || (plan === undefined && (state === undefined || state === 'paused'))) return {};
    const resumed = plan === undefined && state === 'active' ? [{ state: 'paused' }] : [];
    return { $or: [{ 'billing.periodEnd': { $exists: false } }, ...resumed] };
  }

  async function setAccountById(id: string, settings: AccountSettings) {
    const change: Document = {};
    if (settings.plan !== undefined) change['plan'] = knownPlan(settings.plan);
    if (settings.intranet !== undefined) change['intranet'] = settings.intranet;
    if (settings.state !== undefined) {
      const given = knownState(settings.state);
      if (billing.mode === 'none') throw stateless();
      // Who is not suspended any more has the state that Stripe last gave.
      const resumed = {
        $cond: [{ $eq: ['$state', 'paused'] }, { $ifNull: ['$billing.state', given] }, given],
      };
      const state = ofStripe && given === 'active' ? resumed : given;
      change['state'] = state;
      // The grace runs from the first time: saying past_due again does not prolong it.
      const since = {
        $cond: [{ $eq: ['$state', 'past_due'] }, { $ifNull: ['$pastDueSince', '$$NOW'] }, '$$NOW'],
      };
      change['pastDueSince'] = { $cond: [{ $eq: [state, 'past_due'] }, since, '$$REMOVE'] };
    }
    if (Object.keys(change).length === 0)
      throw invalid('Nothing to change: give at least one of `plan`, `state` and `intranet`.');
    const changed = await store.limited(
      accounts.updateOne({ _id: id, ...mayChange(settings) }, [{ $set: change }], limits),
    );
    const account = await accountById(id);
    if (changed.matchedCount === 0) throw stripesOwn();
    return account;
  }

  async function renameAccount(id: string, name: string): Promise<string> {
    checkName('name', name);
    try {
      const before = await store.limited(
        accounts.findOneAndUpdate(
          { _id: id },
          { $set: { name } },
          { projection: { name: 1 }, returnDocument: 'before', ...limits },
        ),
      );
      if (!before) throw unknownId();
      return before.name;
    } catch (error) {
      if (isDuplicate(error))
        throw new ApiError(
          'conflict',
          '`name`: another account has this name. Choose another one.',
        );
      throw error;
    }
  }

  async function accountByName(name: string): Promise<Account> {
    const account = await store.limited(
      accounts.findOne({ name }, { projection: shown, ...limits }),
    );
    if (!account) throw unknownAccount(name);
    return asAccount(account);
  }
  const accountIdOf = async (name: string) => (await accountByName(name)).id;

  return {
    createAccount,
    listAccounts,
    findAccounts,
    accountById,
    accountByName,
    setAccount: async (name, settings) => setAccountById(await accountIdOf(name), settings),
    setAccountById,
    renameAccount,
    createKey: async (name, key) => keys.create(await accountIdOf(name), key),
    listKeys: async name => keys.list(await accountIdOf(name)),
    revokeKey: async (name, keyId) => keys.revoke(await accountIdOf(name), keyId),
  };
}
