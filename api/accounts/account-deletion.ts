// Deletes an account and its data. The account is gone at once, in one transaction: no key, lease or
// member of it works, and no call can begin to store anything. Its data is deleted after that, which
// can be repeated after a failure: everything is keyed by the account's ID, which is never used again.
import { ApiError } from '../../common/contract/errors.ts';
import { repeatedly, type Service } from '../../common/lifecycle.ts';
import type { Log } from '../../common/log.ts';
import { type AccountData, accountData } from '../store/account-data.ts';
import type { ClientSession, Document, Store } from '../store/store.ts';
import { hasSubscription } from './account-rules.ts';

/**
 * For this long after its deletion, what calls in progress have stored for the account is deleted
 * too. A batch may arrive for minutes; renders end with their lease.
 */
const LATE_DATA_MS = 3600e3;
/** Documents of one command. Those of `jobs` may have 64 KiB, and files of many MiB. */
const DELETED_AT_ONCE = 200;
/** Counting more takes longer than is worth it. */
export const MOST_COUNTED = 10_000;

type OwnedData = Extract<AccountData, { account: string }>;
type PartsData = Extract<AccountData, { partsOf: unknown }>;

/** What an account has of each kind: at most MOST_COUNTED. */
export interface AccountContents {
  members: number;
  invitations: number;
  asyncRenders: number;
  batches: number;
  storedPdfs: number;
  renderLog: number;
  connectedApps: number;
}

const hasSubscriptionStill = (subscription: string | undefined) =>
  new ApiError(
    'conflict',
    `The account has a subscription at Stripe${subscription === undefined ? '' : ` (${subscription})`}. Cancel it there immediately, not at the end of the period. Delete the account when Pressroom shows it as canceled.`,
  );

/** Database errors pass through. */
export class AccountDeletion {
  readonly #store: Store;
  readonly #owned: readonly OwnedData[];
  readonly #parts: readonly PartsData[];

  constructor(store: Store) {
    this.#store = store;
    const data = accountData(store);
    this.#owned = data.filter(row => 'account' in row);
    this.#parts = data.filter(row => 'partsOf' in row);
  }

  async contents(account: string): Promise<AccountContents> {
    const { console, limits, limited } = this.#store;
    const count = (name: string) => {
      const row = this.#owned.find(({ collection }) => collection.collectionName === name)!;
      const options = { limit: MOST_COUNTED, ...limits };
      return limited(row.collection.countDocuments({ [row.account]: account }, options));
    };
    const [team, connectedApps, asyncRenders, batches, storedPdfs, renderLog] = await Promise.all([
      limited(console.teams.findOne({ _id: account }, limits)),
      count('oauth_grants'),
      count('jobs'),
      count('batches'),
      count('documents.files'),
      count('renders'),
    ]);
    return {
      members: team?.members.length ?? 0,
      invitations: team?.invitations.length ?? 0,
      connectedApps,
      asyncRenders,
      batches,
      storedPdfs,
      renderLog,
    };
  }

  /**
   * Deletes the account itself, with its keys, leases, members and invitations. `record` writes the
   * entry of the audit log in the same transaction. Then call `finish`. Throws ApiError `not_found`,
   * or `conflict` for an account with a subscription.
   */
  async begin(_id: string, record: (session: ClientSession) => Promise<void>): Promise<void> {
    const { accounts, deletedAccounts, console, limits } = this.#store;
    // A process that was killed in this transaction blocks it for a minute. Best effort.
    await this.#store.abortIdleTransactions().catch(() => 0);
    await this.#store.transaction(async session => {
      const options = { ...limits, session };
      const deleted = await accounts.findOneAndDelete(
        { _id, $expr: { $not: [hasSubscription] } },
        { projection: { name: 1 }, ...options },
      );
      if (!deleted) {
        const account = await accounts.findOne({ _id }, options);
        if (account) throw hasSubscriptionStill(account.billing?.subscription);
        throw new ApiError('not_found', 'Account not found.');
      }
      await deletedAccounts.insertOne({ _id, name: deleted.name, at: new Date() }, options);
      await console.teams.deleteOne({ _id }, options);
      await record(session);
    });
  }

  /**
   * Deletes what is stored of a deleted account. Safe to repeat, also in several processes. Rejects
   * with the signal's reason when it aborts.
   */
  async finish(account: string, signal?: AbortSignal): Promise<void> {
    for (const owned of this.#owned) await this.#deleteOwned(owned, account, signal);
    const { deletedAccounts, limits, limited } = this.#store;
    await limited(
      deletedAccounts.updateOne(
        { _id: account, keptUntil: { $exists: false } },
        [{ $set: { keptUntil: { $add: ['$$NOW', LATE_DATA_MS] } } }],
        limits,
      ),
    );
  }

  /** The accounts of this name whose deletion was interrupted. */
  async interrupted(name: string): Promise<string[]> {
    return this.#deleted({ name, keptUntil: { $exists: false } });
  }

  /**
   * Deletes what calls in progress stored for deleted accounts, and the rest after a failure. Rejects
   * with the first error, after it has tried the other accounts.
   */
  async finishAll(signal?: AbortSignal): Promise<void> {
    const errors: unknown[] = [];
    for (const account of await this.#deleted({}))
      try {
        await this.finish(account, signal);
      } catch (error) {
        if (signal?.aborted) throw error;
        errors.push(error);
      }
    if (errors.length > 0) throw errors[0];
  }

  /** The interrupted ones first. */
  async #deleted(filter: Document): Promise<string[]> {
    const { deletedAccounts, limits, limited } = this.#store;
    const options = { projection: { _id: 1 }, sort: { keptUntil: 1 }, ...limits } as const;
    const found = deletedAccounts.find(filter, options);
    return (await limited(found.toArray())).map(({ _id }) => _id);
  }

  /** In groups, since a command has a time limit. Parts go first: without their owner they are lost. */
  async #deleteOwned(
    { collection, account: field }: OwnedData,
    account: string,
    signal?: AbortSignal,
  ): Promise<void> {
    const { limits, limited } = this.#store;
    const options = { projection: { _id: 1 }, limit: DELETED_AT_ONCE, ...limits };
    for (;;) {
      signal?.throwIfAborted();
      const found = await limited(collection.find({ [field]: account }, options).toArray());
      if (found.length === 0) return;
      const ids = found.map(({ _id }) => _id) as unknown as string[];
      for (const { collection: parts, partsOf } of this.#parts)
        for (const { collection: owner, filter } of partsOf)
          if (owner === collection.collectionName)
            await limited(parts.deleteMany(filter(ids), limits));
      await limited(
        collection.deleteMany({ _id: { $in: ids as never }, [field]: account }, limits),
      );
    }
  }
}

/** Every process does it, since each step can be repeated; a shutdown aborts it. */
export const deletionSweep = (store: Store, log: Log): Service => {
  const deletion = new AccountDeletion(store);
  return repeatedly({
    name: 'sweep of deleted accounts',
    everyMs: 300e3,
    run: signal => deletion.finishAll(signal),
    log,
    failure: 'could not finish deleting accounts',
  });
};
