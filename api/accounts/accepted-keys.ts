// The bearer check before the body is read: a cache of recently accepted keys, and one database
// read for any other key. The admission checks the key again.

import {
  type AccountState,
  KEY_HASH_INDEX,
  type KeyScope,
  RESTRICTED_KEY_HASH_INDEX,
  type Store,
} from '../store/store.ts';
import {
  databaseUnreachable,
  missingScope,
  orUnavailable,
  subscriptionInactive,
  unauthorized,
} from './account-errors.ts';
import {
  allowedIps,
  capOf,
  isServed,
  keyIsGood,
  type ServedRules,
  scopes,
  testKey,
  withKey,
} from './account-rules.ts';
import { addressIsAllowed } from './allowed-ips.ts';
import { hashKeyByEach, isTestKey, NOT_A_KEY, parseKey } from './keys.ts';
import type { Plan } from './plans.ts';
import { createRecentReads } from './recent-reads.ts';

/** A caller with an API key. */
export interface Caller {
  accountId: string;
  /** The key's hash with each pepper. */
  keyHash: string[];
  clientIp: string;
  requestId: string;
  /**
   * The key's networks that `clientIp` was checked against. The admission verifies that they have
   * not changed since.
   */
  allowedIps?: string[];
}

/** A caller with a valid key. `intranet` and `parallel` are as of the last database read. */
export interface Accepted extends Omit<Caller, 'requestId'> {
  intranet: boolean;
  keyId: string;
  keyName: string;
  /** Concurrency limit of the plan. */
  parallel: number;
  /** A test key, by its text or by its record: its renders are sandbox renders. */
  test: boolean;
}

interface KeyNeeds {
  /** One of them is enough. An error names the first. */
  scopes: readonly KeyScope[];
  /** The call renders: the subscription must be active. */
  renders?: boolean;
  /** The call ends with an admission, which checks the key again: it may be cached until then. */
  admitted?: boolean;
}

/** What a call does with its key. */
export type KeyUse = 'render' | 'read' | 'submit_render' | 'manage_render' | 'read_render';

const KEY_NEEDS: Record<KeyUse, KeyNeeds> = {
  render: { scopes: ['render'], renders: true, admitted: true },
  read: { scopes: ['read'] },
  submit_render: { scopes: ['render'], renders: true },
  manage_render: { scopes: ['render'] },
  read_render: { scopes: ['read', 'render'] },
};

export interface AcceptedKeysConfig extends ServedRules {
  plans: readonly Plan[];
  /** New keys use the first. A second one is accepted while the pepper is being rotated. */
  peppers: readonly string[];
  dashboardUrl: string;
}

const CACHED_MS = 60_000;
/** Any number of calls over the limit costs one read in this time. */
const RECHECK_MS = 1_000;
/** About 300 bytes each. */
const MAX_CACHED = 10_000;

interface Found {
  /** Absent, as `keyId` and `keyName`, when the key has expired. */
  networks?: string[];
  keyId?: string;
  keyName?: string;
  scopes?: KeyScope[];
  test?: boolean;
  served: boolean;
  state: AccountState;
  intranet: boolean;
  parallel: number;
}

/** `nowMs` is monotonic. */
export function createAcceptedKeys(
  store: Store,
  config: AcceptedKeysConfig,
  nowMs = () => performance.now(),
) {
  const served = isServed(config);
  const parallel = capOf(config.plans);
  /** Only accepted keys are cached. */
  const reads = createRecentReads<Found | null>(
    { most: MAX_CACHED, forMs: CACHED_MS, kept: found => !!found?.networks && found.served },
    nowMs,
  );

  /**
   * Uses the index on hashes: an unknown key costs the same whatever account it names, so that
   * timing reveals nothing. The account ID routes the read to one shard of a sharded database.
   */
  async function readFrom(
    keys: 'keys' | 'restrictedKeys',
    accountId: string,
    hashes: readonly string[],
  ): Promise<Found | null> {
    store.primary.throwIfMissing();
    return store.limited(
      store.timed(
        'read_key',
        store.accounts.findOne<Found>(
          { _id: accountId, [`${keys}.hash`]: { $in: [...hashes] } },
          {
            projection: {
              _id: 0,
              state: 1,
              intranet: 1,
              served,
              parallel,
              networks: withKey(hashes, { $cond: [keyIsGood, allowedIps, '$$REMOVE'] }),
              keyId: withKey(hashes, { $cond: [keyIsGood, '$$good.id', '$$REMOVE'] }),
              keyName: withKey(hashes, { $cond: [keyIsGood, '$$good.name', '$$REMOVE'] }),
              scopes: withKey(hashes, scopes),
              test: withKey(hashes, testKey),
            },
            hint: keys === 'keys' ? KEY_HASH_INDEX : RESTRICTED_KEY_HASH_INDEX,
            ...store.limits,
          },
        ),
      ),
    );
  }

  /** Test keys are never in `keys`. A second read finds other restricted keys. */
  const read = async (accountId: string, hashes: readonly string[], test: boolean) =>
    (test ? null : await readFrom('keys', accountId, hashes)) ??
    (await readFrom('restrictedKeys', accountId, hashes));

  /**
   * `keyText`: the text after `Bearer`. `onKnown` is called for a valid key, also when the
   * call is then rejected for its scope or the account's state. Throws ApiError `unauthorized`,
   * `subscription_inactive` when the call renders, and, when the key is neither cached nor
   * readable, `render_failed`/`database` for an admitted call and `unavailable` for others.
   */
  async function check(
    keyText: string,
    clientIp: string,
    use: KeyUse,
    onKnown?: (caller: Accepted) => void,
  ): Promise<Accepted> {
    const accountId = parseKey(keyText);
    if (accountId === undefined) throw unauthorized(NOT_A_KEY);
    const { scopes: needed, renders, admitted } = KEY_NEEDS[use];
    const keyHash = hashKeyByEach(keyText, config.peppers);
    const test = isTestKey(keyText);
    const lookUp = () => read(accountId, keyHash, test);
    const looking = admitted ? reads.of(keyHash[0]!, lookUp) : lookUp();
    const found = await looking.catch(cause => {
      throw admitted ? databaseUnreachable(cause) : orUnavailable(cause);
    });
    if (!found?.networks || !addressIsAllowed(clientIp, found.networks)) throw unauthorized();
    const { networks: allowedIps, intranet, parallel } = found;
    const caller = {
      accountId,
      keyHash,
      clientIp,
      intranet,
      allowedIps,
      keyId: found.keyId!,
      keyName: found.keyName!,
      parallel,
      test: test || found.test === true,
    };
    onKnown?.(caller);
    if (!needed.some(scope => found.scopes?.includes(scope))) throw missingScope(needed[0]!);
    if (renders && !found.served) throw subscriptionInactive(found.state, config);
    return caller;
  }

  return {
    check,
    /** Removes the key from the cache because the admission rejected the caller. */
    forget: ({ keyHash }: Pick<Accepted, 'keyHash'>): void => reads.forget(keyHash[0]!),
    /**
     * Removes the key from the cache, at most once a second: the caller is over a concurrency limit
     * that may be out of date.
     */
    recheck: ({ keyHash }: Pick<Accepted, 'keyHash'>): void =>
      reads.forget(keyHash[0]!, RECHECK_MS),
  };
}
export type AcceptedKeys = ReturnType<typeof createAcceptedKeys>;
