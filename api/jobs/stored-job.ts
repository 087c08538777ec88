// What the document of a job contains of its request: the request itself, encrypted, and what lists
// show of it.
import type { RenderRequest } from '../../common/contract/render-request.ts';
import type { JobDocument } from '../store/store.ts';
import type { JobCipher } from './job-cipher.ts';
import type { JobFiles } from './job-files.ts';
import { createJobId } from './job-id.ts';

/** An expired job shows for this long how it ended. */
export const KEPT_MS = 7 * 86_400e3;

/**
 * Jobs start in the order of `availableAt`, so that one that is tried again is not passed by all that
 * are submitted later. MongoDB's clock may be behind this one.
 */
export const CLOCK_DIFFERENCE_MS = 10_000;

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

/** Stores the chunks of a large request until `expiresAt`; the document is stored by the caller. */
export async function storeRequest(
  { cipher, files }: JobStorage,
  keyId: string,
  request: RenderRequest,
  expiresAt: Date,
  _id = createJobId(),
): Promise<StoredJob> {
  const { key, wrapped } = cipher.createKey(_id);
  const json = Buffer.from(JSON.stringify(request));
  const { reference, filename, sandbox = false } = request;
  return {
    _id,
    key: keyId,
    sandbox,
    ...(reference !== undefined && { reference }),
    ...(filename !== undefined && { filename }),
    dataKey: wrapped,
    request: await files.saveRequest(key, { _id, expiresAt }, json),
  };
}
