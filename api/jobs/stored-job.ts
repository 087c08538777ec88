// What the document of a job contains of its request: the request itself, encrypted, and what lists
// show of it.
import type { RenderRequest } from '../../common/contract/render-request.ts';
import type { JobDocument } from '../store/store.ts';
import type { JobCipher } from './job-cipher.ts';
import type { JobFiles } from './job-files.ts';

/** An expired job shows for this long how it ended. */
const KEPT_MS = 7 * 86_400e3;

/**
 * Jobs start in the order of `availableAt`, so that one that is tried again is not passed by all that
 * are submitted later. MongoDB's clock may be behind this one.
 */
const CLOCK_DIFFERENCE_MS = 10_000;

/** What a caller submits. */
export interface RenderSubmission {
  request: RenderRequest;
  ttlMs: number;
}

/** A job that has no place in the queue yet. */
export type StoredJob = Pick<
  JobDocument,
  '_id' | 'key' | 'sandbox' | 'reference' | 'filename' | 'dataKey' | 'request'
>;

export interface JobStorage {
  cipher: JobCipher;
  files: JobFiles;
}

/** A job without its request, and what the request is stored with. */
export interface PreparedJob {
  job: Omit<StoredJob, 'request'>;
  /** The job's key, */
  key: Buffer;
  /** and what it encrypts. */
  json: Buffer;
}

export function prepareJob(
  cipher: JobCipher,
  _id: string,
  keyId: string,
  request: RenderRequest,
): PreparedJob {
  const { key, wrapped } = cipher.createKey(_id);
  const { reference, filename, sandbox = false } = request;
  const job = {
    _id,
    key: keyId,
    sandbox,
    ...(reference !== undefined && { reference }),
    ...(filename !== undefined && { filename }),
    dataKey: wrapped,
  };
  return { job, key, json: Buffer.from(JSON.stringify(request)) };
}

/** The document of a job that begins to wait. `submittedMs`: its place in the queue. */
export function queuedJob(
  stored: StoredJob,
  {
    account,
    createdAt,
    ttlMs,
    submittedMs = createdAt.getTime(),
  }: Pick<JobDocument, 'account' | 'createdAt'> & { ttlMs: number; submittedMs?: number },
): JobDocument {
  const expiresAt = new Date(createdAt.getTime() + ttlMs);
  return {
    ...stored,
    account,
    status: 'queued',
    createdAt,
    expiresAt,
    keptUntil: new Date(expiresAt.getTime() + KEPT_MS),
    availableAt: new Date(submittedMs - CLOCK_DIFFERENCE_MS),
  };
}
