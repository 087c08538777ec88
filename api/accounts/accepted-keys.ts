// Decides whether a caller's body is worth reading: which keys were accepted lately, and one read
// for any other. The admission decides again.

import { type AccountState, KEY_HASH_INDEX, type Store } from '../store/store.ts';
import { databaseUnreachable, subscriptionInactive, unauthorized } from './account-errors.ts';
import {
  allowedIps,
  capOf,
  isServed,
  keyIsGood,
  type ServedRules,
  withKey,
} from './account-rules.ts';
import { addressIsAllowed } from './allowed-ips.ts';
import { hashKeyByEach, parseKey } from './keys.ts';
import type { Plan } from './plans.ts';
import { createRecentReads } from './recent-reads.ts';

/** Who calls, as the bearer check found out. */
export interface Caller {
  accountId: string;
  /** The key's hash by each pepper. */
  keyHash: string[];
  clientIp: string;
  requestId: string;
  /**
   * The networks of the key that `clientIp` was checked against; the admission makes sure that they
   * are still these.
   */
  allowedIps?: string[];
}

/**
 * A caller whose key is good; `intranet` as the last read said, for the check of the request's
 * address.
 */
export interface Accepted extends Omit<Caller, 'requestId'> {
  intranet: boolean;
  keyId: string;
  /** Renders at once of the plan, by the last read. */
  parallel: number;
}

export interface AcceptedKeys {
  /**
   * `onKnown` hears of a caller whose key is good, also when the call is then refused for the
   * account's state. Throws ApiError `unauthorized`, `subscription_inactive`, or
   * `render_failed`/`database` when the key is not remembered and cannot be read. `keyText`: what
   * stands after `Bearer`, undefined when nothing does.
   */
  check(
    keyText: string | undefined,
    clientIp: string,
    onKnown?: (caller: Accepted) => void,
  ): Promise<Accepted>;
  /** The admission refused this caller: the next call with the key is read again. */
  forget(accepted: Pick<Accepted, 'keyHash'>): void;
  /**
   * The caller has more requests than the plan allows, by a read that may be out of date: the next
   * call reads again, at most once a second.
   */
  recheck(accepted: Pick<Accepted, 'keyHash'>): void;
}

export interface AcceptedKeysConfig extends ServedRules {
  plans: readonly Plan[];
  /** The first is the one that new keys take; a second is accepted while they are being changed. */
  peppers: readonly string[];
  dashboardUrl: string;
}

const REMEMBER_MS = 60_000;
/** A flood of calls over the limit costs one read in this time. */
const RECHECK_MS = 1_000;
/** About 300 bytes each. */
const MAX_REMEMBERED = 10_000;

interface Found {
  /** Absent, as the id, when the key is not good. */
  networks?: string[];
  keyId?: string;
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
): AcceptedKeys {
  const served = isServed(config);
  const parallel = capOf(config.plans);
  /** Only a good answer is kept. */
  const reads = createRecentReads<Found | null>(
    { most: MAX_REMEMBERED, forMs: REMEMBER_MS, kept: found => !!found?.networks && found.served },
    nowMs,
  );

  /**
   * By the index of hashes and not by that of ids: a key that does not exist is the same miss
   * whatever account it names, so that its time tells nothing. The id is there for a database that
   * is sharded by it, where the read goes to one shard.
   */
  async function read(accountId: string, hashes: readonly string[]): Promise<Found | null> {
    store.primary.throwIfMissing();
    return store.limited(
      store.timed(
        'read_key',
        store.accounts.findOne<Found>(
          { _id: accountId, 'keys.hash': { $in: [...hashes] } },
          {
            projection: {
              _id: 0,
              state: 1,
              intranet: 1,
              served,
              parallel,
              networks: withKey(hashes, { $cond: [keyIsGood, allowedIps, '$$REMOVE'] }),
              keyId: withKey(hashes, { $cond: [keyIsGood, '$$good.id', '$$REMOVE'] }),
            },
            hint: KEY_HASH_INDEX,
            ...store.limits,
          },
        ),
      ),
    );
  }

  async function check(
    keyText: string | undefined,
    clientIp: string,
    onKnown?: (caller: Accepted) => void,
  ): Promise<Accepted> {
    const accountId = keyText === undefined ? undefined : parseKey(keyText);
    if (accountId === undefined) throw unauthorized();
    const keyHash = hashKeyByEach(keyText!, config.peppers);
    const found = await reads
      .of(keyHash[0]!, () => read(accountId, keyHash))
      .catch(cause => {
        throw databaseUnreachable(cause);
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
      parallel,
    };
    onKnown?.(caller);
    if (!found.served) throw subscriptionInactive(found.state, config.dashboardUrl);
    return caller;
  }

  return {
    check,
    forget: ({ keyHash }) => reads.forget(keyHash[0]!),
    recheck: ({ keyHash }) => reads.forget(keyHash[0]!, RECHECK_MS),
  };
}
