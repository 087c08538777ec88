// Encrypts the stored request and PDFs of a job with a random key of the job. The key is stored with
// the job, encrypted with PRESSROOM_SECRET, so that a copy of the database reveals no document.
import { randomBytes } from 'node:crypto';
import { createEncryption, decryptBytes, encryptBytes } from '../../common/encryption.ts';
import type { ChunkTransform } from '../store/stored-chunks.ts';

const KEY_BYTES = 32;

/** `secret`: PRESSROOM_SECRET, the same for all API processes. */
export function createJobCipher(secret: string) {
  const encryption = createEncryption(secret, 'job key');
  return {
    /** A new key, and its encrypted form for the job's document. */
    createKey: (jobId: string): { key: Buffer; wrapped: string } => {
      const key = randomBytes(KEY_BYTES);
      return { key, wrapped: encryption.encrypt(key.toString('base64url'), jobId) };
    },
    /** Undefined unless the key was created with this secret for this job. */
    unwrapKey: (wrapped: string, jobId: string): Buffer | undefined => {
      const key = encryption.decrypt(wrapped, jobId);
      return key === undefined ? undefined : Buffer.from(key, 'base64url');
    },
  };
}
export type JobCipher = ReturnType<typeof createJobCipher>;

/** So that no chunk can be reordered, moved to another file, or removed from the end. */
const placeOf = (fileId: string, n: number, isLast: boolean) => JSON.stringify([fileId, n, isLast]);

/** For `StoredChunks.write`. Each chunk becomes 28 bytes longer. */
export const sealChunks =
  (key: Buffer, fileId: string): ChunkTransform =>
  (chunk, n, isLast) =>
    encryptBytes(key, chunk, placeOf(fileId, n, isLast));

/**
 * For `StoredChunks.read`. Throws Error for a chunk that is not the one of this key, file and place.
 * A file that was cut off is detected at its new last chunk.
 */
export const openChunks =
  (key: Buffer, fileId: string): ChunkTransform =>
  (chunk, n, isLast) => {
    const plain = decryptBytes(key, chunk, placeOf(fileId, n, isLast));
    if (!plain) throw new Error('a chunk of a stored file cannot be decrypted');
    return plain;
  };
