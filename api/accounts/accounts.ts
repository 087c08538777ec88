// Accounts and their keys, as an operator manages them: by unique names, with errors that say how to mend the input.
import { ApiError, invalid } from '../contract/errors.ts';
import {
  ACCOUNT_STATES,
  type AccountDocument,
  type AccountState,
  type Document,
  isDuplicate,
  type KeyDocument,
  type Store,
} from '../store/store.ts';
import { runningLeases, usageNow } from './account-rules.ts';
import { parseAllowedIps } from './allowed-ips.ts';
import { createAccountId, createKeyText, hashKey, randomBase62 } from './keys.ts';
import type { Plan } from './plans.ts';

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

export type ShownKey = Omit<KeyDocument, 'hash'>;

export interface AccountSettings {
  plan?: string;
  state?: string;
  intranet?: boolean;
}

export interface NewKey {
  name: string;
  expiresAt?: Date;
  allowedIps?: readonly string[];
}

/** All throw ApiError: `validation_error` for bad input, `not_found` for an unknown name; database errors pass through. */
export interface Accounts {
  createAccount(name: string, settings?: AccountSettings): Promise<Account>;
  /** Sorted by name. */
  listAccounts(): Promise<Account[]>;
  setAccount(name: string, settings: AccountSettings): Promise<Account>;
  /** `text` is shown here once and stored nowhere. */
  createKey(accountName: string, key: NewKey): Promise<{ text: string; key: ShownKey }>;
  listKeys(accountName: string): Promise<ShownKey[]>;
  /** Acts on the next request with the key; a render that runs is not stopped. */
  revokeKey(accountName: string, keyId: string): Promise<void>;
}

/** All keys stand in the account's one document, which every render reads on the server. */
const MAX_KEYS = 200;
const NAME = /^\S(?:.{0,98}\S)?$/u;

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
  new ApiError('not_found', `There is no account named \`${name}\`. List the accounts to see their names.`);

function checkName(field: string, name: string): void {
  if (!NAME.test(name) || /\p{C}/u.test(name))
    throw invalid(`\`${field}\` must be 1 to 100 visible characters without spaces at its ends.`);
}

export function createAccounts(store: Store, { plans, peppers }: { plans: readonly Plan[]; peppers: readonly string[] }): Accounts {
  const { accounts, limits } = store;

  function knownPlan(name: string): string {
    const plan = plans.find(known => known.name === name.toLowerCase());
    if (!plan) throw invalid(`\`plan\`: \`${name}\` is unknown; the plans are ${plans.map(known => known.name).join(', ')}.`);
    return plan.name;
  }

  function knownState(state: string): AccountState {
    const known = ACCOUNT_STATES.find(word => word === state);
    if (!known) throw invalid(`\`state\`: \`${state}\` is unknown; the states are ${ACCOUNT_STATES.join(', ')}.`);
    return known;
  }

  async function createAccount(name: string, { plan = plans[0]!.name, state = 'active', intranet = false }: AccountSettings = {}) {
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
      if (isDuplicate(error)) throw invalid(`\`name\`: there is an account named \`${name}\` already. Choose another name.`);
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
    return (await accounts.find({}, { projection: shown, sort: { name: 1 }, ...limits }).toArray()).map(asAccount);
  }

  async function setAccount(name: string, settings: AccountSettings) {
    const change: Document = {};
    if (settings.plan !== undefined) change['plan'] = knownPlan(settings.plan);
    if (settings.intranet !== undefined) change['intranet'] = settings.intranet;
    if (settings.state !== undefined) {
      const state = knownState(settings.state);
      change['state'] = state;
      // The grace runs from the first time: saying past_due again does not prolong it.
      const since = { $cond: [{ $eq: ['$state', 'past_due'] }, { $ifNull: ['$pastDueSince', '$$NOW'] }, '$$NOW'] };
      change['pastDueSince'] = state === 'past_due' ? since : '$$REMOVE';
    }
    if (Object.keys(change).length === 0) throw invalid('Nothing to change: give at least one of `plan`, `state` and `intranet`.');
    const changed = await store.limited(accounts.updateOne({ name }, [{ $set: change }], limits));
    if (changed.matchedCount === 0) throw unknownAccount(name);
    const account = await store.limited(accounts.findOne({ name }, { projection: shown, ...limits }));
    if (!account) throw unknownAccount(name);
    return asAccount(account);
  }

  async function accountIdOf(name: string): Promise<string> {
    const account = await store.limited(accounts.findOne({ name }, { projection: { _id: 1 }, ...limits }));
    if (!account) throw unknownAccount(name);
    return account._id;
  }

  async function createKey(accountName: string, { name, expiresAt, allowedIps = [] }: NewKey) {
    checkName('name', name);
    if (expiresAt !== undefined && !(expiresAt.getTime() > Date.now())) throw invalid('`expires_at` must be a time in the future.');
    const networks = parseAllowedIps(allowedIps);
    const accountId = await accountIdOf(accountName);
    const text = createKeyText(accountId);
    const key: ShownKey = {
      id: randomBase62(12),
      name,
      last4: text.slice(-4),
      createdAt: new Date(),
      ...(expiresAt && { expiresAt }),
      ...(networks && { allowedIps: networks }),
    };
    const added = await store.limited(
      accounts.updateOne(
        { _id: accountId, [`keys.${MAX_KEYS - 1}`]: { $exists: false } },
        { $push: { keys: { ...key, hash: hashKey(text, peppers[0]!) } } },
        limits,
      ),
    );
    if (added.matchedCount === 0) throw invalid(`\`${accountName}\` has ${MAX_KEYS} keys already. Revoke one that is not used any more.`);
    return { text, key };
  }

  async function listKeys(accountName: string): Promise<ShownKey[]> {
    const account = await store.limited(accounts.findOne({ name: accountName }, { projection: { keys: 1 }, ...limits }));
    if (!account) throw unknownAccount(accountName);
    return account.keys.map(({ hash: _hash, ...key }) => key);
  }

  async function revokeKey(accountName: string, keyId: string): Promise<void> {
    const accountId = await accountIdOf(accountName);
    const revoked = await store.limited(
      accounts.updateOne({ _id: accountId, 'keys.id': keyId }, { $pull: { keys: { id: keyId } } }, limits),
    );
    if (revoked.matchedCount === 0)
      throw new ApiError('not_found', `\`${accountName}\` has no key with the id \`${keyId}\`. List its keys to see their ids.`);
  }

  return { createAccount, listAccounts, setAccount, createKey, listKeys, revokeKey };
}
