// Accounts as an administrator manages them: created, listed, changed and renamed. Keys are in
// account-keys.ts.

import { ApiError, invalid } from '../../common/contract/errors.ts';
import {
  ACCOUNT_STATES,
  type AccountDocument,
  type AccountState,
  type Document,
  isDuplicate,
  type Store,
} from '../store/store.ts';
import { AccountKeys, type CreatedKey, type NewKey, type ShownKey } from './account-keys.ts';
import { allKeys, usageNow } from './account-rules.ts';
import { createAccountId } from './keys.ts';
import { runningLeases } from './lease-rules.ts';
import { checkName } from './names.ts';
import type { BillingMode, Plan } from './plans.ts';

/** An account without its secrets. */
export interface Account {
  id: string;
  name: string;
  plan: string;
  state: AccountState;
  intranet: boolean;
  /** Its static documents may be rendered in the same page, one after another. */
  rendererReuse: boolean;
  keys: number;
  /** Unexpired leases. */
  running: number;
  /** Renders counted in the current billing period. */
  usage: number;
  createdAt: Date;
}

export interface AccountSettings {
  plan?: string;
  state?: string;
  intranet?: boolean;
  rendererReuse?: boolean;
}

interface AccountsConfig {
  plans: readonly Plan[];
  peppers: readonly string[];
  /** What sets plan and state. Default: Stripe, for accounts that have a subscription. */
  billing?: { mode: BillingMode };
}

const projection: Document = {
  name: 1,
  plan: 1,
  state: 1,
  intranet: 1,
  rendererReuse: { $ne: ['$rendererReuse', false] },
  createdAt: 1,
  keys: { $size: allKeys },
  running: runningLeases,
  usage: usageNow,
};

const asAccount = ({ _id, ...rest }: Document): Account => ({ id: _id, ...rest }) as Account;

const unknownAccount = (name: string) =>
  new ApiError(
    'not_found',
    `There is no account named \`${name}\`. List the accounts to see their names.`,
  );
const unknownId = () => new ApiError('not_found', 'Account not found.');
const noBilling = () =>
  new ApiError(
    'conflict',
    '`state` has no effect because this installation has no billing. To suspend accounts, set PRESSROOM_BILLING=manual.',
  );
const managedByStripe = () =>
  new ApiError(
    'conflict',
    "Stripe manages this account's plan and state. You can suspend or reactivate the account here. Change its plan in Stripe.",
  );

/**
 * Account names are unique. All methods throw ApiError: `validation_error` for invalid input,
 * `not_found` for an unknown account. Database errors pass through.
 */
export class Accounts {
  readonly #store: Store;
  readonly #plans: readonly Plan[];
  readonly #billing: BillingMode;
  readonly #keys: AccountKeys;

  constructor(store: Store, { plans, peppers, billing = { mode: 'stripe' } }: AccountsConfig) {
    this.#store = store;
    this.#plans = plans;
    this.#billing = billing.mode;
    this.#keys = new AccountKeys(store, peppers);
  }

  async createAccount(
    name: string,
    { plan = this.#plans[0]!.name, state = 'active', intranet = false }: AccountSettings = {},
  ): Promise<Account> {
    checkName('name', name);
    const account: AccountDocument = {
      _id: createAccountId(),
      name,
      plan: this.#knownPlan(plan),
      state: knownState(state),
      ...(state === 'past_due' && { pastDueSince: new Date() }),
      intranet,
      keys: [],
      leases: [],
      usage: { period: '0000-00', count: 0 },
      createdAt: new Date(),
    };
    try {
      await this.#store.limited(this.#store.accounts.insertOne(account, this.#store.limits));
    } catch (error) {
      if (isDuplicate(error))
        throw invalid(
          `\`name\`: an account named \`${name}\` already exists. Choose another name.`,
        );
      throw error;
    }
    return {
      id: account._id,
      name,
      plan: account.plan,
      state: account.state,
      intranet,
      rendererReuse: true,
      keys: 0,
      running: 0,
      usage: 0,
      createdAt: account.createdAt,
    };
  }

  /** Sorted by name. */
  async listAccounts(): Promise<Account[]> {
    const { accounts, limits } = this.#store;
    const found = accounts.find({}, { projection, sort: { name: 1 }, ...limits });
    return (await found.toArray()).map(asAccount);
  }

  /** Newest first, at most `limit`. `filter` is a MongoDB filter built by trusted code. */
  async findAccounts(filter: Document, limit: number): Promise<Account[]> {
    const { accounts, limits } = this.#store;
    const sort = { createdAt: -1, _id: -1 } as const;
    const found = accounts.find(filter, { projection, sort, limit, ...limits });
    return (await this.#store.limited(found.toArray())).map(asAccount);
  }

  accountById(id: string): Promise<Account> {
    return this.#find({ _id: id }, unknownId);
  }

  accountByName(name: string): Promise<Account> {
    return this.#find({ name }, () => unknownAccount(name));
  }

  async setAccount(name: string, settings: AccountSettings): Promise<Account> {
    return this.setAccountById(await this.#idOf(name), settings);
  }

  /**
   * Throws `conflict` for what Stripe manages: plan and state of an account with a subscription,
   * except suspending and reactivating it.
   */
  async setAccountById(id: string, settings: AccountSettings): Promise<Account> {
    const { plan, intranet, rendererReuse, state } = settings;
    const change: Document = {
      ...(plan !== undefined && { plan: this.#knownPlan(plan) }),
      ...(intranet !== undefined && { intranet }),
      ...(rendererReuse !== undefined && { rendererReuse }),
      ...(state !== undefined && this.#stateChange(knownState(state))),
    };
    if (Object.keys(change).length === 0)
      throw invalid(
        'Nothing to change. Send at least one of `plan`, `state`, `intranet` and `rendererReuse`.',
      );
    const { accounts, limits } = this.#store;
    const changed = await this.#store.limited(
      accounts.updateOne({ _id: id, ...this.#allows(settings) }, [{ $set: change }], limits),
    );
    const account = await this.accountById(id);
    if (changed.matchedCount === 0) throw managedByStripe();
    return account;
  }

  /** Returns the former name. Throws `conflict` for a name that another account has. */
  async renameAccount(id: string, name: string): Promise<string> {
    checkName('name', name);
    const { accounts, limits } = this.#store;
    try {
      const before = await this.#store.limited(
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
          '`name`: another account already has this name. Choose another name.',
        );
      throw error;
    }
  }

  async createKey(accountName: string, key: NewKey): Promise<CreatedKey> {
    return this.#keys.create(await this.#idOf(accountName), key);
  }

  async listKeys(accountName: string): Promise<ShownKey[]> {
    return this.#keys.list(await this.#idOf(accountName));
  }

  /** As `AccountKeys.revoke`. */
  async revokeKey(accountName: string, keyId: string): Promise<ShownKey> {
    return this.#keys.revoke(await this.#idOf(accountName), keyId);
  }

  async #find(filter: { _id: string } | { name: string }, unknown: () => ApiError) {
    const { accounts, limits } = this.#store;
    const account = await this.#store.limited(accounts.findOne(filter, { projection, ...limits }));
    if (!account) throw unknown();
    return asAccount(account);
  }

  async #idOf(name: string): Promise<string> {
    return (await this.accountByName(name)).id;
  }

  #knownPlan(name: string): string {
    const plan = this.#plans.find(known => known.name === name.toLowerCase());
    if (!plan)
      throw invalid(
        `\`plan\`: unknown plan \`${name}\`. The plans are ${this.#plans.map(known => known.name).join(', ')}.`,
      );
    return plan.name;
  }

  /** The filter of accounts that an administrator may change like this. */
  #allows({ plan, state }: AccountSettings): Document {
    const onlySuspends = plan === undefined && (state === undefined || state === 'paused');
    if (this.#billing !== 'stripe' || onlySuspends) return {};
    const reactivated = plan === undefined && state === 'active' ? [{ state: 'paused' }] : [];
    return { $or: [{ 'billing.periodEnd': { $exists: false } }, ...reactivated] };
  }

  #stateChange(newState: AccountState): Document {
    if (this.#billing === 'none') throw noBilling();
    // A reactivated account returns to the state that Stripe last reported.
    const reactivated = {
      $cond: [{ $eq: ['$state', 'paused'] }, { $ifNull: ['$billing.state', newState] }, newState],
    };
    const state = this.#billing === 'stripe' && newState === 'active' ? reactivated : newState;
    // Setting past_due again does not extend the grace period.
    const since = {
      $cond: [{ $eq: ['$state', 'past_due'] }, { $ifNull: ['$pastDueSince', '$$NOW'] }, '$$NOW'],
    };
    const pastDueSince = { $cond: [{ $eq: [state, 'past_due'] }, since, '$$REMOVE'] };
    return { state, pastDueSince };
  }
}

function knownState(state: string): AccountState {
  const known = ACCOUNT_STATES.find(each => each === state);
  if (!known)
    throw invalid(
      `\`state\`: unknown state \`${state}\`. The states are ${ACCOUNT_STATES.join(', ')}.`,
    );
  return known;
}
