// Creates, lists, rotates and revokes the API keys of an account. Shared by the command line and the
// dashboard.
import { ApiError, invalid } from '../../common/contract/errors.ts';
import type { Document, KeyDocument, Store } from '../store/store.ts';
import { parseAllowedIps } from './allowed-ips.ts';
import { createKeyText, hashKey, randomBase62 } from './keys.ts';
import { checkName } from './names.ts';

export type ShownKey = Omit<KeyDocument, 'hash'>;

export interface NewKey {
  name: string;
  expiresAt?: Date;
  allowedIps?: readonly string[];
}

/** `text` is returned only here and never stored. */
export interface CreatedKey {
  text: string;
  key: ShownKey;
}

type KeySettings = Pick<ShownKey, 'name' | 'expiresAt' | 'allowedIps'>;

/** All keys are in the account's one document, which MongoDB reads for every render. */
export const MAX_KEYS = 200;
/** Matches an account that can have one more key. */
const belowMaxKeys = { [`keys.${MAX_KEYS - 1}`]: { $exists: false } };

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

const withoutHash = ({ hash: _hash, ...key }: KeyDocument): ShownKey => key;

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
    { name, expiresAt, allowedIps = [] }: NewKey,
  ): Promise<CreatedKey> {
    checkName('name', name);
    if (expiresAt !== undefined && !(expiresAt.getTime() > Date.now()))
      throw invalid('`expiresAt` must be in the future.');
    const networks = parseAllowedIps(allowedIps);
    const { text, key, stored } = this.#newKey(accountId, {
      name,
      ...(expiresAt && { expiresAt }),
      ...(networks && { allowedIps: networks }),
    });
    const { accounts, limits } = this.#store;
    const added = await this.#store.limited(
      accounts.updateOne({ _id: accountId, ...belowMaxKeys }, { $push: { keys: stored } }, limits),
    );
    if (added.matchedCount === 0) {
      await this.#keysOf(accountId); // throws when the account does not exist
      throw tooManyKeys();
    }
    return { text, key };
  }

  /** In order of creation. */
  async list(accountId: string): Promise<ShownKey[]> {
    return (await this.#keysOf(accountId)).map(withoutHash);
  }

  /**
   * Creates a key with the same name, networks and lifetime. The former key works for `overlapMs`
   * more by the database's clock, but not beyond its own expiry; with 0 it is deleted. One write,
   * so that at every moment at least one of the two works. Throws `conflict` for a rotated key.
   */
  async rotate(
    accountId: string,
    keyId: string,
    overlapMs: number,
  ): Promise<CreatedKey & { former: ShownKey }> {
    const found = (await this.#keysOf(accountId)).find(({ id }) => id === keyId);
    if (!found) throw noKey(keyId);
    if (found.replacedBy !== undefined) throw alreadyRotated(found);
    const { text, key, stored } = this.#newKey(accountId, successorSettings(found));
    const { accounts, limits } = this.#store;
    const rotated = await this.#store.limited(
      accounts.findOneAndUpdate(
        // Of two concurrent rotations only one matches.
        {
          _id: accountId,
          keys: { $elemMatch: { id: keyId, replacedBy: { $exists: false } } },
          ...(overlapMs > 0 && belowMaxKeys),
        },
        [{ $set: { keys: rotatedKeys(keyId, stored, overlapMs) } }],
        { returnDocument: 'after', projection: { keys: 1 }, ...limits },
      ),
    );
    const former = withoutHash(rotated?.keys.find(({ id }) => id === keyId) ?? found);
    if (rotated) return { text, key, former };
    const now = (await this.#keysOf(accountId)).find(({ id }) => id === keyId);
    throw !now ? noKey(keyId) : now.replacedBy === undefined ? tooManyKeys() : alreadyRotated(now);
  }

  /**
   * Takes effect with the next request that uses the key; running renders continue. Returns the
   * deleted key.
   */
  async revoke(accountId: string, keyId: string): Promise<ShownKey> {
    const { accounts, limits } = this.#store;
    const before = await this.#store.limited(
      accounts.findOneAndUpdate(
        { _id: accountId, 'keys.id': keyId },
        { $pull: { keys: { id: keyId } } },
        { returnDocument: 'before', projection: { keys: 1 }, ...limits },
      ),
    );
    const revoked = before?.keys.find(({ id }) => id === keyId);
    if (revoked) return withoutHash(revoked);
    await this.#keysOf(accountId); // throws when the account does not exist
    throw noKey(keyId);
  }

  #newKey(accountId: string, settings: KeySettings): CreatedKey & { stored: KeyDocument } {
    const text = createKeyText(accountId);
    const { name, expiresAt, allowedIps } = settings;
    const key: ShownKey = {
      id: randomBase62(12),
      name,
      last4: text.slice(-4),
      createdAt: new Date(),
      ...(expiresAt && { expiresAt }),
      ...(allowedIps && { allowedIps }),
    };
    return { text, key, stored: { ...key, hash: hashKey(text, this.#pepper) } };
  }

  async #keysOf(accountId: string): Promise<KeyDocument[]> {
    const { accounts, limits } = this.#store;
    const account = await this.#store.limited(
      accounts.findOne({ _id: accountId }, { projection: { keys: 1 }, ...limits }),
    );
    if (!account) throw noAccount();
    return account.keys;
  }
}

/** What a rotated key passes on: its name, networks and lifetime. */
function successorSettings({ name, allowedIps, createdAt, expiresAt }: ShownKey): KeySettings {
  const end = expiresAt && new Date(Date.now() + expiresAt.getTime() - createdAt.getTime());
  return { name, ...(end && { expiresAt: end }), ...(allowedIps && { allowedIps }) };
}

/** The keys after a rotation, as a MongoDB expression. */
function rotatedKeys(keyId: string, successor: KeyDocument, overlapMs: number): Document {
  const isFormer = { $eq: ['$$key.id', { $literal: keyId }] };
  const until = { $min: ['$$key.expiresAt', { $add: ['$$NOW', overlapMs] }] };
  const expiring = {
    $mergeObjects: ['$$key', { expiresAt: until, replacedBy: { $literal: successor.id } }],
  };
  const others: Document =
    overlapMs === 0
      ? { $filter: { input: '$keys', as: 'key', cond: { $not: [isFormer] } } }
      : { $map: { input: '$keys', as: 'key', in: { $cond: [isFormer, expiring, '$$key'] } } };
  // A literal, because a name may begin with a dollar sign.
  return { $concatArrays: [others, [{ $literal: successor }]] };
}
