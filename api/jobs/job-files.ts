// The requests and PDFs of jobs in MongoDB, encrypted with the job's key. A small request is part of
// the job's document.
import type { RenderRequest } from '../../common/contract/render-request.ts';
import { decryptBytes, encryptBytes } from '../../common/encryption.ts';
import { Binary, type JobDocument, type StoredFile } from '../store/store.ts';
import type { StoredChunks } from '../store/stored-chunks.ts';
import { openChunks, sealChunks } from './job-cipher.ts';

/** Larger requests are files: a claim and a list of jobs read whole documents. */
export const MAX_INLINE_BYTES = 64 * 1_024;

const requestOf = (jobId: string): string => `${jobId}/request`;

export class JobFiles {
  readonly #chunks: StoredChunks;

  constructor(chunks: StoredChunks) {
    this.#chunks = chunks;
  }

  /** `request`: as JSON. */
  async saveRequest(
    key: Buffer,
    jobId: string,
    request: Buffer,
    expiresAt: Date,
  ): Promise<NonNullable<JobDocument['request']>> {
    const id = requestOf(jobId);
    if (request.length <= MAX_INLINE_BYTES)
      return { inline: new Binary(encryptBytes(key, request, id)) };
    await this.#chunks.write(id, request, { expiresAt, transform: sealChunks(key, id) });
    return { file: { id, bytes: request.length } };
  }

  /** Throws Error when it is missing or cannot be decrypted. */
  async readRequest(
    key: Buffer,
    job: Pick<JobDocument, '_id' | 'request'>,
  ): Promise<RenderRequest> {
    const json = await this.#requestOf(key, job);
    return JSON.parse(json.toString('utf8'));
  }

  /** Each attempt has a file of its own, since an earlier one may still be writing. */
  async savePdf(
    key: Buffer,
    { _id, lease, expiresAt }: Pick<JobDocument, '_id' | 'lease' | 'expiresAt'>,
    pdf: Buffer,
    signal: AbortSignal,
  ): Promise<StoredFile> {
    const id = `${_id}/pdf/${lease}`;
    await this.#chunks.write(id, pdf, { expiresAt, signal, transform: sealChunks(key, id) });
    return { id, bytes: pdf.length };
  }

  /** Throws Error when a chunk is missing or cannot be decrypted. */
  readPdf(key: Buffer, { id, bytes }: StoredFile): AsyncGenerator<Buffer, void> {
    return this.#chunks.read(id, bytes, openChunks(key, id));
  }

  /** Best effort: the chunks also expire. */
  async removeRequest({ _id, request }: Pick<JobDocument, '_id' | 'request'>): Promise<void> {
    if (request && 'file' in request) await this.#chunks.remove(requestOf(_id));
  }

  async removePdf({ id }: StoredFile): Promise<void> {
    await this.#chunks.remove(id);
  }

  async #requestOf(
    key: Buffer,
    { _id, request }: Pick<JobDocument, '_id' | 'request'>,
  ): Promise<Buffer> {
    if (!request) throw new Error('the request of the job is missing');
    const id = requestOf(_id);
    if ('inline' in request) {
      const json = decryptBytes(key, Buffer.from(request.inline.buffer), id);
      if (!json) throw new Error('the request of the job cannot be decrypted');
      return json;
    }
    const { bytes } = request.file;
    return Buffer.concat(await Array.fromAsync(this.#chunks.read(id, bytes, openChunks(key, id))));
  }
}
