// The keys of one account, by the account's id: made, listed, rotated and revoked. Command line and
// dashboard both come here.
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

/** `text` is shown here once and stored nowhere. */
export interface CreatedKey {
  text: string;
  key: ShownKey;
}

/**
 * All throw ApiError: `validation_error` for bad input, `not_found` for an unknown account or key;
 * database errors pass through.
 */
export interface AccountKeys {
  create(accountId: string, key: NewKey): Promise<CreatedKey>;
  /** In the order in which they were made. */
  list(accountId: string): Promise<ShownKey[]>;
  /**
   * Makes a key with the same name and networks, that lives as long as the former was made to. The
   * former works for `overlapMs` more (by the database's clock), and never longer than it would
   * have; with 0 it is gone. One write: there are never both for longer, and never none. `conflict`
   * when it was rotated before.
   */
  rotate(
    accountId: string,
    keyId: string,
    overlapMs: number,
  ): Promise<CreatedKey & { former: ShownKey }>;
  /**
   * Acts on the next request with the key; a render that runs is not stopped. Gives what is gone.
   */
  revoke(accountId: string, keyId: string): Promise<ShownKey>;
}

/** All keys stand in the account's one document, which every render reads on the server. */
export const MAX_KEYS = 200;
/** True of an account that has room for one more. */
const hasRoom = { [`keys.${MAX_KEYS - 1}`]: { $exists: false } };

const noAccount = () => new ApiError('not_found', 'There is no such account.');
const noKey = (keyId: string) =>
  new ApiError(
    'not_found',
    `The account has no key with the id \`${keyId.slice(0, 60)}\`. List its keys to see their ids.`,
  );
const tooMany = () =>
  invalid(`The account has ${MAX_KEYS} keys already. Revoke one that is not used any more.`);

const withoutHash = ({ hash: _hash, ...key }: KeyDocument): ShownKey => key;

/** New keys take the first pepper. */
export function createAccountKeys(store: Store, peppers: readonly string[]): AccountKeys {
  const { accounts, limits } = store;

  function make(
    accountId: string,
    settings: Pick<ShownKey, 'name' | 'expiresAt' | 'allowedIps'>,
  ): CreatedKey & { stored: KeyDocument } {
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
    return { text, key, stored: { ...key, hash: hashKey(text, peppers[0]!) } };
  }

  async function keysOf(accountId: string): Promise<KeyDocument[]> {
    const account = await store.limited(
      accounts.findOne({ _id: accountId }, { projection: { keys: 1 }, ...limits }),
    );
    if (!account) throw noAccount();
    return account.keys;
  }

  async function create(accountId: string, { name, expiresAt, allowedIps = [] }: NewKey) {
    checkName('name', name);
    if (expiresAt !== undefined && !(expiresAt.getTime() > Date.now()))
      throw invalid('`expiresAt` must be a time in the future.');
    const networks = parseAllowedIps(allowedIps);
    const { text, key, stored } = make(accountId, {
      name,
      ...(expiresAt && { expiresAt }),
      ...(networks && { allowedIps: networks }),
    });
    const added = await store.limited(
      accounts.updateOne({ _id: accountId, ...hasRoom }, { $push: { keys: stored } }, limits),
    );
    if (added.matchedCount === 0) {
      await keysOf(accountId); // says so when it is the account that is missing
      throw tooMany();
    }
    return { text, key };
  }

  async function rotate(accountId: string, keyId: string, overlapMs: number) {
    const found = (await keysOf(accountId)).find(({ id }) => id === keyId);
    if (!found) throw noKey(keyId);
    const { name, allowedIps, createdAt, expiresAt, replacedBy } = found;
    if (replacedBy !== undefined) throw rotatedBefore(found);
    const end = expiresAt && new Date(Date.now() + expiresAt.getTime() - createdAt.getTime());
    const { text, key, stored } = make(accountId, {
      name,
      ...(end && { expiresAt: end }),
      ...(allowedIps && { allowedIps }),
    });
    const isFormer = { $eq: ['$$key.id', { $literal: keyId }] };
    const until = { $min: ['$$key.expiresAt', { $add: ['$$NOW', overlapMs] }] };
    const runningOut = {
      $mergeObjects: ['$$key', { expiresAt: until, replacedBy: { $literal: key.id } }],
    };
    const others: Document =
      overlapMs === 0
        ? { $filter: { input: '$keys', as: 'key', cond: { $not: [isFormer] } } }
        : { $map: { input: '$keys', as: 'key', in: { $cond: [isFormer, runningOut, '$$key'] } } };
    const rotated = await store.limited(
      accounts.findOneAndUpdate(
        // Of two who rotate it at once, one finds it rotated.
        {
          _id: accountId,
          keys: { $elemMatch: { id: keyId, replacedBy: { $exists: false } } },
          ...(overlapMs > 0 && hasRoom),
        },
        // As a literal: a name may begin with a dollar.
        [{ $set: { keys: { $concatArrays: [others, [{ $literal: stored }]] } } }],
        { returnDocument: 'after', projection: { keys: 1 }, ...limits },
      ),
    );
    const former = withoutHash(rotated?.keys.find(({ id }) => id === keyId) ?? found);
    if (rotated) return { text, key, former };
    const now = (await keysOf(accountId)).find(({ id }) => id === keyId);
    throw !now ? noKey(keyId) : now.replacedBy === undefined ? tooMany() : rotatedBefore(now);
  }

  async function revoke(accountId: string, keyId: string): Promise<ShownKey> {
    const before = await store.limited(
      accounts.findOneAndUpdate(
        { _id: accountId, 'keys.id': keyId },
        { $pull: { keys: { id: keyId } } },
        { returnDocument: 'before', projection: { keys: 1 }, ...limits },
      ),
    );
    const gone = before?.keys.find(({ id }) => id === keyId);
    if (gone) return withoutHash(gone);
    await keysOf(accountId);
    throw noKey(keyId);
  }

  return {
    create,
    list: async accountId => (await keysOf(accountId)).map(withoutHash),
    rotate,
    revoke,
  };
}

const rotatedBefore = ({ name, last4 }: ShownKey) =>
  new ApiError(
    'conflict',
    `The key \`${name}\` that ends in ${last4} was rotated already. Rotate the key that took its place.`,
  );
