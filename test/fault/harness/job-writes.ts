// Every write to MongoDB in the life of an asynchronous render, with its place in the code, its
// command, and how a job ends when the process dies before or after that command.
import type { Document } from 'mongodb';
import type { JobStatus } from '../../../api/store/store.ts';

/** What the test does so that the write is sent. */
export type JobScene =
  | 'submit'
  | 'submit a batch'
  | 'submit a broken batch'
  | 'succeed'
  | 'succeed with a large request'
  | 'page fails'
  | 'run long'
  | 'shut down'
  | 'cancel waiting'
  | 'cancel running'
  | 'orphan'
  | 'third orphan'
  | 'expire waiting'
  | 'expire running'
  | 'expire ended';

export interface WrittenJob {
  account: string;
  /** The job's ID, once it is known. */
  job?: string;
}

export interface JobWrite {
  name: string;
  /** `file function method` of the driver's call. */
  code: string;
  scene: JobScene;
  /** Set for the write that decides a change of the status. */
  transition?: [JobStatus, JobStatus];
  matches(command: Document, of: WrittenJob): boolean;
  /** How the job ends when the command was not sent, and when it was; undefined: there is no job. */
  ends: { before: JobStatus | undefined; after: JobStatus | undefined };
}

const OPERATIONS = 'api/jobs/job-operations.ts';
const BATCHES = 'api/jobs/batch-operations.ts';
const LEASES = 'api/leases/lease-operations.ts';
const CHUNKS = 'api/store/stored-chunks.ts';

type Matches = JobWrite['matches'];

const inTransaction = ({ autocommit }: Document) => autocommit === false;
const updates =
  (collection: string, matches: (update: Document) => boolean): Matches =>
  ({ update, updates: all }, { account }) =>
    update === collection &&
    (all as Document[]).some(
      each => JSON.stringify(each['q']).includes(account) && matches(each['u']),
    );
const ends =
  (status: JobStatus): Matches =>
  ({ findAndModify, query, update }, { account }) =>
    findAndModify === 'jobs' && query.account === account && update.$set?.status === status;
const insertsInto =
  (collection: string): Matches =>
  ({ insert, documents }, { account }) =>
    insert === collection && documents[0].account === account;
/** Their job has no ID yet for the test. */
const insertsRequest: Matches = ({ insert, documents }) =>
  insert === 'documents.chunks' && documents[0].files_id.endsWith('/request');
const insertsPdf: Matches = ({ insert, documents }, { job }) =>
  insert === 'documents.chunks' && documents[0].files_id.startsWith(`${job}/pdf/`);

/** The commit of the transaction with an entry in this collection. */
function commits(collection = 'outbox'): Matches {
  const sessions = new Set<string>();
  return (command, of) => {
    const session = command['lsid']?.id?.toString('hex');
    if (insertsInto(collection)(command, of)) sessions.add(session);
    return command['commitTransaction'] === 1 && sessions.has(session);
  };
}

const both = (status: JobStatus | undefined) => ({ before: status, after: status });

/** The writes that end a job, after the one that ends or counts its lease. */
function ending(
  name: string,
  scene: JobScene,
  transition: [JobStatus, JobStatus],
  otherwise: JobStatus,
): JobWrite[] {
  const row = { scene, ends: both(otherwise) };
  const [, to] = transition;
  return [
    {
      ...row,
      name: `${name}: status`,
      code: `${OPERATIONS} end findOneAndUpdate`,
      transition,
      matches: ends(to),
    },
    {
      ...row,
      name: `${name}: outbox`,
      code: `${OPERATIONS} end insertOne`,
      matches: insertsInto('outbox'),
    },
    {
      ...row,
      name: `${name}: commit`,
      code: 'api/store/store.ts transaction withTransaction',
      matches: commits(),
      ends: { before: otherwise, after: to },
    },
  ];
}

/** Until the last of them, nothing of the batch is visible. */
const batchWrites = (): JobWrite[] => {
  const row = { scene: 'submit a batch' as const, ends: both(undefined) };
  return [
    {
      ...row,
      name: 'batch: requests',
      code: `${CHUNKS} insert insertMany`,
      matches: insertsRequest,
    },
    {
      ...row,
      name: 'batch: jobs',
      code: `${BATCHES} publish insertMany`,
      matches: ({ insert, documents }) => insert === 'jobs' && 'batch' in documents[0],
    },
    {
      ...row,
      name: 'batch: its document',
      code: `${BATCHES} publish insertOne`,
      matches: insertsInto('batches'),
    },
    {
      ...row,
      name: 'batch: commit',
      code: 'api/store/store.ts transaction withTransaction',
      matches: commits('batches'),
      ends: { before: undefined, after: 'succeeded' },
    },
    {
      ...row,
      scene: 'submit a broken batch',
      name: 'batch: discarded requests',
      code: `${CHUNKS} remove deleteMany`,
      // Ended jobs delete those of one.
      matches: ({ delete: from, deletes }) =>
        from === 'documents.chunks' && deletes[0].q.files_id.$in.length > 1,
    },
  ];
};

/** Those of submissions and attempts, and those of repairs. Each call returns a new table. */
export const jobWrites = (): { run: JobWrite[]; repair: JobWrite[] } => ({
  run: [
    {
      name: 'count and end of the lease',
      code: `${LEASES} settle findOneAndUpdate`,
      scene: 'succeed',
      matches: ({ findAndModify, query }, { account }) =>
        findAndModify === 'accounts' && query._id === account && 'leases.id' in query,
      ends: both('succeeded'),
    },
    ...ending('success', 'succeed', ['running', 'succeeded'], 'succeeded'),
    {
      name: 'chunks of the request deleted',
      code: `${CHUNKS} remove deleteMany`,
      scene: 'succeed with a large request',
      matches: ({ delete: from, deletes }, { job }) =>
        from === 'documents.chunks' && deletes[0].q.files_id.$in[0] === `${job}/request`,
      ends: both('succeeded'),
    },
    {
      name: 'chunks of the PDF',
      code: `${CHUNKS} insert insertMany`,
      scene: 'succeed',
      matches: insertsPdf,
      ends: both('succeeded'),
    },
    {
      name: 'end of the lease without a count',
      code: `${LEASES} release updateOne`,
      scene: 'page fails',
      matches: (command, of) =>
        inTransaction(command) && updates('accounts', ({ $pull }) => $pull)(command, of),
      ends: both('failed'),
    },
    ...ending('failure', 'page fails', ['running', 'failed'], 'failed'),
    {
      name: 'chunks of the request',
      code: `${CHUNKS} insert insertMany`,
      scene: 'submit',
      matches: insertsRequest,
      ends: both(undefined),
    },
    {
      name: 'job',
      code: `${OPERATIONS} insert insertOne`,
      scene: 'submit',
      matches: insertsInto('jobs'),
      ends: { before: undefined, after: 'succeeded' },
    },
    ...batchWrites(),
    {
      name: 'lease',
      code: `${LEASES} take findOneAndUpdate`,
      scene: 'succeed',
      matches: ({ findAndModify, query }, { account }) =>
        findAndModify === 'accounts' && query._id === account && !('leases.id' in query),
      ends: both('succeeded'),
    },
    {
      name: 'claim',
      code: `${OPERATIONS} claim findOneAndUpdate`,
      scene: 'succeed',
      transition: ['queued', 'running'],
      matches: ({ findAndModify, query }, { account }) =>
        findAndModify === 'jobs' && query.status === 'queued' && query.account === account,
      ends: both('succeeded'),
    },
    {
      name: 'renewal',
      code: `${LEASES} renew bulkWrite`,
      scene: 'run long',
      matches: updates('accounts', Array.isArray),
      ends: both('succeeded'),
    },
  ],
  repair: [
    {
      name: 'requeue at shutdown',
      code: `${OPERATIONS} requeue updateOne`,
      scene: 'shut down',
      transition: ['running', 'queued'],
      matches: updates('jobs', Array.isArray),
      ends: both('succeeded'),
    },
    {
      name: 'release at shutdown',
      code: `${LEASES} release updateOne`,
      scene: 'shut down',
      matches: (command, of) =>
        !inTransaction(command) && updates('accounts', ({ $pull }) => $pull)(command, of),
      ends: both('succeeded'),
    },
    ...ending('cancel, waiting', 'cancel waiting', ['queued', 'canceled'], 'succeeded'),
    ...ending('cancel, running', 'cancel running', ['running', 'canceled'], 'succeeded'),
    {
      name: 'requeue of an orphan',
      code: `${OPERATIONS} requeue updateOne`,
      scene: 'orphan',
      transition: ['running', 'queued'],
      matches: updates('jobs', Array.isArray),
      ends: both('succeeded'),
    },
    ...ending('third orphan', 'third orphan', ['running', 'failed'], 'failed'),
    ...ending('expiry, waiting', 'expire waiting', ['queued', 'expired'], 'expired'),
    ...ending('expiry, running', 'expire running', ['running', 'expired'], 'expired'),
    {
      name: 'keys deleted',
      code: `${OPERATIONS} deleteKeys updateMany`,
      scene: 'expire ended',
      matches: updates('jobs', ({ $unset }) => $unset?.dataKey),
      ends: both('succeeded'),
    },
  ],
});
