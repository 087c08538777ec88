// The documents of asynchronous renders, and their collections and indexes.
import type { Binary, Db } from 'mongodb';
import type { AsyncRenderStatus } from '../../common/contract/async-renders.ts';
import type { ErrorCode, RenderFailedReason } from '../../common/contract/errors.ts';

export type JobStatus = AsyncRenderStatus;

/** A request or PDF, encrypted with the job's key: in its document, or in `documents.chunks`. */
export interface StoredContent {
  /** Before the encryption. */
  bytes: number;
  inline?: Binary;
  /** The `files_id` of its chunks. */
  file?: string;
}

/** The place of a render in its batch. */
export interface BatchPlace {
  id: string;
  /** From 0, in the order of the request. */
  index: number;
}

export interface JobError {
  code: ErrorCode;
  message: string;
  reason?: RenderFailedReason;
}

/** An attempt that counts. */
export interface LoggedAttempt {
  startedAt: Date;
  /** Of one after which the job waited again. The last one of a job that ended, ended with it. */
  endedAt?: Date;
  /** Why the job waited again. Absent when the attempt was interrupted. */
  error?: Pick<JobError, 'code' | 'reason'>;
}

/** One asynchronous render. */
export interface JobDocument {
  /** `rnd_` and a UUIDv7 in hexadecimal. */
  _id: string;
  account: string;
  status: JobStatus;
  /** ID of the key that submitted it. */
  key: string;
  createdAt: Date;
  /** From then on, neither the request nor the PDF can be read. */
  expiresAt: Date;
  /** When the document is deleted. Until then it shows how the render ended. */
  keptUntil: Date;
  /** A queued job is not claimed before. The earliest is claimed first. */
  availableAt: Date;
  /** Attempts that began, in their order. Absent before the first. */
  attemptLog?: LoggedAttempt[];
  /**
   * The lease of the account that the current attempt holds. Each attempt has a new one, so it
   * also rejects the writes of earlier attempts (a fencing token).
   */
  lease?: string;
  startedAt?: Date;
  endedAt?: Date;
  /** Not counted, and with a watermark. */
  sandbox: boolean;
  reference?: string;
  filename?: string;
  batch?: BatchPlace;
  /** The key of the encryption, itself encrypted. Removed with the request when the job expires. */
  dataKey?: string;
  /** As JSON. Removed when the job ends. */
  request?: StoredContent;
  /** Of a job that succeeded. */
  pdf?: StoredContent;
  pages?: number;
  /** The account's count in the billing period after this render, if it was counted. */
  usage?: number;
  /** Of a job that failed. */
  error?: JobError;
  /** Of a job that failed because its last attempt was interrupted. */
  lastInterrupted?: true;
}

/** A batch of renders that were submitted with one request. */
export interface BatchDocument {
  /** `bat_` and a UUIDv7 in hexadecimal. */
  _id: string;
  account: string;
  createdAt: Date;
  /** The number of its renders. */
  total: number;
  /** When the document is deleted: with the last of its renders. */
  keptUntil: Date;
}

/** One for each job that ended, written with its last status. Read by later deliveries. */
export interface OutboxDocument {
  /** The job's ID. */
  _id: string;
  account: string;
  status: JobStatus;
  at: Date;
  keptUntil: Date;
}

export const jobCollections = (db: Db) => ({
  jobs: db.collection<JobDocument>('jobs'),
  batches: db.collection<BatchDocument>('batches'),
  outbox: db.collection<OutboxDocument>('outbox'),
});
export type JobCollections = ReturnType<typeof jobCollections>;

/** Idempotent. */
export async function jobIndexes(db: Db): Promise<void> {
  const { jobs, outbox } = jobCollections(db);
  await jobs.createIndexes([
    { key: { status: 1, account: 1, availableAt: 1, _id: 1 }, name: 'next' },
    { key: { account: 1, createdAt: -1, _id: -1 }, name: 'of an account' },
    { key: { account: 1, status: 1, createdAt: -1, _id: -1 }, name: 'by status' },
    {
      key: { expiresAt: 1 },
      name: 'expiry',
      partialFilterExpression: { dataKey: { $exists: true } },
    },
    { key: { keptUntil: 1 }, expireAfterSeconds: 0, name: 'end' },
  ]);
  await outbox.createIndexes([
    { key: { account: 1, at: 1 }, name: 'of an account' },
    { key: { keptUntil: 1 }, expireAfterSeconds: 0, name: 'end' },
  ]);
}

export const JOBS_OF_BATCH = 'of a batch';

/** Idempotent. */
export async function batchIndexes(db: Db): Promise<void> {
  const { jobs, batches } = jobCollections(db);
  await jobs.createIndexes([
    {
      // Counts by status read the index alone: a document may have 64 KiB of its request.
      key: { 'batch.id': 1, createdAt: -1, _id: -1, account: 1, status: 1 },
      name: JOBS_OF_BATCH,
      partialFilterExpression: { 'batch.id': { $exists: true } },
    },
  ]);
  await batches.createIndexes([{ key: { keptUntil: 1 }, expireAfterSeconds: 0, name: 'end' }]);
}
