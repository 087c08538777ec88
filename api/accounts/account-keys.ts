// Creates, lists, rotates and revokes the API keys of an account. Shared by the command line and the
// dashboard.
import { ApiError, invalid } from '../../common/contract/errors.ts';
import {
  type Document,
  KEY_SCOPES,
  type KeyDocument,
  type KeyScope,
  type Store,
} from '../store/store.ts';
import { allKeys, SCOPES_BY_DEFAULT } from './account-rules.ts';
import { parseAllowedIps } from './allowed-ips.ts';
import { createKeyText, hashKey, randomBase62 } from './keys.ts';
import { checkName } from './names.ts';

export type ShownKey = Omit<KeyDocument, 'hash' | 'scopes'> & { scopes: readonly KeyScope[] };

export interface NewKey {
  name: string;
  expiresAt?: Date;
  allowedIps?: readonly string[];
  /** Default: all. */
  scopes?: readonly string[];
  /** A test key. */
  test?: boolean;
}

/** `text` is returned only here and never stored. */
export interface CreatedKey {
  text: string;
  key: ShownKey;
}

type KeySettings = Pick<ShownKey, 'name' | 'expiresAt' | 'allowedIps' | 'scopes' | 'test'>;

/** Where a key is stored: see `restrictedKeys` of the account. */
type KeyList = 'keys' | 'restrictedKeys';
const listOf = ({ scopes, test }: Pick<ShownKey, 'scopes' | 'test'>): KeyList =>
  test || !scopes.includes('render') ? 'restrictedKeys' : 'keys';

/** All keys are in the account's one document, which MongoDB reads for every render. */
export const MAX_KEYS = 200;
/** Matches an account that can have one more key. */
const belowMaxKeys = { $expr: { $lt: [{ $size: allKeys }, MAX_KEYS] } };

const noAccount = () => new ApiError('not_found', 'Account not found.');
const noKey = (keyId: string) =>
  new ApiError(
    'not_found',
    `This account has no API key with the ID \`${keyId.slice(0, 60)}\`. List its keys to see their IDs.`,
  );
const alreadyRotated = ({ name, last4 }: ShownKey) =>
  new ApiError(
    'conflict',
    `The API key \`${name}\` ending in ${last4} was already rotated. Rotate its replacement instead.`,
  );
const tooManyKeys = () =>
  invalid(
    `The account already has ${MAX_KEYS} API keys, the maximum. Revoke one you no longer use.`,
  );

const shown = ({ hash: _hash, ...key }: KeyDocument): ShownKey => ({
  ...key,
  scopes: key.scopes ?? SCOPES_BY_DEFAULT,
});

/** The keys of both lists. */
export const keysOf = <K>(account: { keys: K[]; restrictedKeys?: K[] }): K[] => [
  ...account.keys,
  ...(account.restrictedKeys ?? []),
];

const BOTH_LISTS = { keys: 1, restrictedKeys: 1 } as const;

/**
 * The keys of accounts by account ID. All methods throw ApiError: `validation_error` for invalid
 * input, `not_found` for an unknown account or key. Database errors pass through.
 */
export class AccountKeys {
  readonly #store: Store;
  readonly #pepper: string;

  /** New keys are hashed with the first pepper. */
  constructor(store: Store, peppers: readonly string[]) {
    this.#store = store;
    this.#pepper = peppers[0]!;
  }

  async create(
    accountId: string,
    { name, expiresAt, allowedIps = [], scopes = KEY_SCOPES, test = false }: NewKey,
  ): Promise<CreatedKey> {
    checkName('name', name);
    if (expiresAt !== undefined && !(expiresAt.getTime() > Date.now()))
      throw invalid('`expiresAt` must be in the future.');
    const networks = parseAllowedIps(allowedIps);
    const { text, key, stored } = this.#newKey(accountId, {
      name,
      scopes: parseScopes(scopes),
      ...(expiresAt && { expiresAt }),
      ...(networks && { allowedIps: networks }),
      ...(test && { test }),
    });
    const { accounts, limits } = this.#store;
    const added = await this.#store.limited(
      accounts.updateOne(
        { _id: accountId, ...belowMaxKeys },
        { $push: { [listOf(key)]: stored } },
        limits,
      ),
    );
    if (added.matchedCount === 0) {
      await this.#keysOf(accountId); // throws when the account does not exist
      throw tooManyKeys();
    }
    return { text, key };
  }

  /** In order of creation. */
  async list(accountId: string): Promise<ShownKey[]> {
    const keys = (await this.#keysOf(accountId)).map(shown);
    return keys.sort((one, other) => one.createdAt.getTime() - other.createdAt.getTime());
  }

  /**
   * Creates a key with the same name, networks, lifetime and scopes. The former key works for
   * `overlapMs` more by the database's clock, but not beyond its own expiry; with 0 it is deleted.
   * One write, so that at every moment at least one of the two works. Throws `conflict` for a
   * rotated key.
   */
  async rotate(
    accountId: string,
    keyId: string,
    overlapMs: number,
  ): Promise<CreatedKey & { former: ShownKey }> {
    const found = await this.#keyOf(accountId, keyId);
    if (found.replacedBy !== undefined) throw alreadyRotated(found);
    const { text, key, stored } = this.#newKey(accountId, successorSettings(found));
    const list = listOf(found);
    const { accounts, limits } = this.#store;
    const rotated = await this.#store.limited(
      accounts.findOneAndUpdate(
        // Of two concurrent rotations only one matches.
        {
          _id: accountId,
          [list]: { $elemMatch: { id: keyId, replacedBy: { $exists: false } } },
          ...(overlapMs > 0 && belowMaxKeys),
        },
        [{ $set: { [list]: rotatedKeys(list, keyId, stored, overlapMs) } }],
        { returnDocument: 'after', projection: BOTH_LISTS, ...limits },
      ),
    );
    if (!rotated) {
      const now = await this.#keyOf(accountId, keyId);
      throw now.replacedBy === undefined ? tooManyKeys() : alreadyRotated(now);
    }
    const kept = keysOf(rotated).find(({ id }) => id === keyId);
    return { text, key, former: kept ? shown(kept) : found };
  }

  /**
   * Takes effect with the next request that uses the key; running renders continue. Returns the
   * deleted key.
   */
  async revoke(accountId: string, keyId: string): Promise<ShownKey> {
    const { accounts, limits } = this.#store;
    const before = await this.#store.limited(
      accounts.findOneAndUpdate(
        { _id: accountId, $or: [{ 'keys.id': keyId }, { 'restrictedKeys.id': keyId }] },
        { $pull: { keys: { id: keyId }, restrictedKeys: { id: keyId } } },
        { returnDocument: 'before', projection: BOTH_LISTS, ...limits },
      ),
    );
    const revoked = before && keysOf(before).find(({ id }) => id === keyId);
    if (revoked) return shown(revoked);
    await this.#keysOf(accountId); // throws when the account does not exist
    throw noKey(keyId);
  }

  #newKey(
    accountId: string,
    { name, expiresAt, allowedIps, scopes, test }: KeySettings,
  ): CreatedKey & { stored: KeyDocument } {
    const text = createKeyText(accountId, test);
    const key: ShownKey = {
      id: randomBase62(12),
      name,
      last4: text.slice(-4),
      createdAt: new Date(),
      scopes,
      ...(expiresAt && { expiresAt }),
      ...(allowedIps && { allowedIps }),
      ...(test && { test }),
    };
    return { text, key, stored: { ...key, hash: hashKey(text, this.#pepper) } };
  }

  async #keyOf(accountId: string, keyId: string): Promise<ShownKey> {
    const found = (await this.#keysOf(accountId)).find(({ id }) => id === keyId);
    if (!found) throw noKey(keyId);
    return shown(found);
  }

  async #keysOf(accountId: string): Promise<KeyDocument[]> {
    const { accounts, limits } = this.#store;
    const account = await this.#store.limited(
      accounts.findOne({ _id: accountId }, { projection: BOTH_LISTS, ...limits }),
    );
    if (!account) throw noAccount();
    return keysOf(account);
  }
}

/** Without duplicates, in the order of KEY_SCOPES. Throws validation_error for other scopes. */
function parseScopes(given: readonly string[]): KeyScope[] {
  const all = KEY_SCOPES.join(', ');
  const unknown = given.find(scope => !(KEY_SCOPES as readonly string[]).includes(scope));
  if (unknown !== undefined)
    throw invalid(`\`scopes\`: unknown scope \`${unknown.slice(0, 60)}\`. The scopes are ${all}.`);
  if (given.length === 0) throw invalid(`\`scopes\` must have at least one of ${all}.`);
  return KEY_SCOPES.filter(scope => given.includes(scope));
}

/** What a rotated key passes on: its lifetime, and all settings but its expiry. */
function successorSettings({ createdAt, expiresAt, ...settings }: ShownKey): KeySettings {
  if (!expiresAt) return settings;
  const lifetimeMs = expiresAt.getTime() - createdAt.getTime();
  return { ...settings, expiresAt: new Date(Date.now() + lifetimeMs) };
}

/** The keys of the list after a rotation, as a MongoDB expression. */
function rotatedKeys(
  list: KeyList,
  keyId: string,
  successor: KeyDocument,
  overlapMs: number,
): Document {
  const isFormer = { $eq: ['$$key.id', { $literal: keyId }] };
  const until = { $min: ['$$key.expiresAt', { $add: ['$$NOW', overlapMs] }] };
  const expiring = {
    $mergeObjects: ['$$key', { expiresAt: until, replacedBy: { $literal: successor.id } }],
  };
  const others: Document =
    overlapMs === 0
      ? { $filter: { input: `$${list}`, as: 'key', cond: { $not: [isFormer] } } }
      : { $map: { input: `$${list}`, as: 'key', in: { $cond: [isFormer, expiring, '$$key'] } } };
  // A literal, because a name may begin with a dollar sign.
  return { $concatArrays: [others, [{ $literal: successor }]] };
}
