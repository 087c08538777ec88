// The requests and PDFs of jobs in MongoDB, encrypted with the job's key. Small ones are part of the
// job's document.
import { decryptBytes, encryptBytes } from '../../common/encryption.ts';
import { Binary, type JobDocument, type StoredContent } from '../store/store.ts';
import type { StoredChunks } from '../store/stored-chunks.ts';
import { openChunks, sealChunks } from './job-cipher.ts';

/** Larger ones are in chunks of their own: a claim reads the whole document. */
export const MAX_INLINE_BYTES = 64 * 1_024;

/** So that one cannot be exchanged for the other. */
type Kind = 'request' | 'pdf';
type Named = Pick<JobDocument, '_id'>;

const requestFile = (jobId: string) => `${jobId}/request`;

export class JobFiles {
  readonly #chunks: StoredChunks;

  constructor(chunks: StoredChunks) {
    this.#chunks = chunks;
  }

  /** `request`: as JSON. */
  saveRequest(
    key: Buffer,
    { _id, expiresAt }: Named & Pick<JobDocument, 'expiresAt'>,
    request: Buffer,
  ): Promise<StoredContent> {
    return this.#save(key, 'request', requestFile(_id), request, expiresAt);
  }

  /** Those of a batch, each in chunks, so that the documents of its jobs are small. */
  async saveRequests(
    requests: readonly (Pick<JobDocument, '_id' | 'expiresAt'> & { key: Buffer; json: Buffer })[],
  ): Promise<StoredContent[]> {
    const files = requests.map(({ key, _id, expiresAt, json }) => {
      const id = requestFile(_id);
      return { id, bytes: json, expiresAt, transform: sealChunks(key, id) };
    });
    const names = files.map(({ id }) => id);
    await this.#orRemoved(names, () => this.#chunks.writeAll(files));
    return files.map(({ id, bytes }) => ({ bytes: bytes.length, file: id }));
  }

  /** Each attempt has a file of its own, since an earlier one may still be writing. */
  savePdf(
    key: Buffer,
    { _id, lease, expiresAt }: Named & Pick<JobDocument, 'lease' | 'expiresAt'>,
    pdf: Buffer,
    signal: AbortSignal,
  ): Promise<StoredContent> {
    return this.#save(key, 'pdf', `${_id}/pdf/${lease}`, pdf, expiresAt, signal);
  }

  /** The bytes in pieces. Throws Error when one is missing or cannot be decrypted. */
  async *read(
    key: Buffer,
    kind: Kind,
    { bytes, inline, file }: StoredContent,
  ): AsyncGenerator<Buffer, void> {
    if (file !== undefined) return yield* this.#chunks.read(file, bytes, openChunks(key, file));
    const content = inline && decryptBytes(key, Buffer.from(inline.buffer), kind);
    if (!content) throw new Error('a stored request or PDF cannot be decrypted');
    yield content;
  }

  /** Best effort: chunks also expire. */
  async remove(...contents: (StoredContent | undefined)[]): Promise<void> {
    const names = contents.flatMap(content => content?.file ?? []);
    if (names.length > 0) await this.#chunks.remove(...names);
  }

  async #save(
    key: Buffer,
    kind: Kind,
    name: string,
    content: Buffer,
    expiresAt: Date,
    signal?: AbortSignal,
  ): Promise<StoredContent> {
    const bytes = content.length;
    if (bytes <= MAX_INLINE_BYTES)
      return { bytes, inline: new Binary(encryptBytes(key, content, kind)) };
    const options = { expiresAt, transform: sealChunks(key, name), ...(signal && { signal }) };
    await this.#orRemoved([name], () => this.#chunks.write(name, content, options));
    return { bytes, file: name };
  }

  async #orRemoved(names: readonly string[], write: () => Promise<void>): Promise<void> {
    try {
      await write();
    } catch (error) {
      await this.#chunks.remove(...names);
      throw error;
    }
  }
}
