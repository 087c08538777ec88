// What every collection has of an account, for its deletion: the field with its ID, or whose parts its
// documents are, or why they stay.
import type { Collection, Document } from 'mongodb';
import type { Store } from './store.ts';

/** A collection and what happens to its documents when an account is deleted. */
export type AccountData = { collection: Collection<Document> } & (
  | {
      /** The field with the account's ID. These documents are deleted. */
      account: string;
    }
  | {
      /** The documents that belong to documents of other collections, and are deleted with them. */
      partsOf: { collection: string; filter: (ids: readonly string[]) => Document }[];
    }
  | { kept: string }
);

/** The cast: only IDs and filters of this table are used. */
const of = (collection: unknown) => collection as Collection<Document>;

/** The files of jobs have the ID of their job, and then their kind. */
const filesOf = (jobs: readonly string[]): Document => ({
  files_id: { $in: jobs.map(id => new RegExp(`^${id}/`)) },
});

/** Every collection, in the order of the deletion. */
export function accountData(
  store: Pick<
    Store,
    'accounts' | 'deletedAccounts' | 'meta' | 'trialLimits' | 'console' | 'asynchronous'
  >,
): AccountData[] {
  const { console, asynchronous } = store;
  return [
    { collection: of(store.accounts), account: '_id' },
    { collection: of(console.teams), account: '_id' },
    { collection: of(console.oauthGrants), account: 'account' },
    { collection: of(console.storedPdfs), account: 'metadata.account' },
    { collection: of(asynchronous.jobs), account: 'account' },
    { collection: of(asynchronous.batches), account: 'account' },
    // After the jobs: who ends a job writes its entry, unless the job is gone.
    { collection: of(asynchronous.outbox), account: 'account' },
    { collection: of(console.renders), account: 'account' },
    { collection: of(console.usageDays), account: '_id.account' },
    {
      collection: of(console.oauth),
      partsOf: [{ collection: 'oauth_grants', filter: ids => ({ grantId: { $in: ids } }) }],
    },
    {
      collection: of(console.cancelledCalls),
      partsOf: [{ collection: 'oauth_grants', filter: ids => ({ _id: { $in: ids } }) }],
    },
    {
      collection: of(console.storedPdfChunks),
      partsOf: [
        { collection: 'documents.files', filter: ids => ({ files_id: { $in: ids } }) },
        { collection: 'jobs', filter: filesOf },
      ],
    },
    { collection: of(console.audit), kept: 'evidence of what was done, also of the deletion' },
    { collection: of(console.users), kept: 'a login is not part of an account' },
    { collection: of(console.sessions), kept: 'of users' },
    { collection: of(console.signInLimits), kept: 'of users and addresses, by their HMAC' },
    { collection: of(console.renderMinutes), kept: 'sums of all accounts' },
    { collection: of(console.billingEvents), kept: 'IDs of the payment provider, for 30 days' },
    { collection: of(console.processes), kept: 'heartbeats, which live for seconds' },
    { collection: of(store.deletedAccounts), kept: 'the deletion itself, for an hour' },
    { collection: of(store.meta), kept: 'of the installation' },
    { collection: of(store.trialLimits), kept: 'of callers without an account' },
  ];
}
