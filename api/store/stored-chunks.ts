// Stores the bytes of files in chunks, in the layout of GridFS: PDFs with links, and requests and
// PDFs of asynchronous renders. What describes a file is stored by the caller.
import type { Store } from './store.ts';
import type { StoredPdfChunk } from './stored-pdfs.ts';

/** The default of GridFS: a power of two would make each document slightly larger than one. */
export const CHUNK_BYTES = 255 * 1_024;
/** 4 MiB in one write. Hashing and sending 100 MiB at once would block every render for 0.1 s. */
const BATCH_BYTES = 16 * CHUNK_BYTES;

/** Returns what is stored for a chunk, or the reverse. `n` begins at 0. */
export type ChunkTransform = (chunk: Buffer, n: number, isLast: boolean) => Buffer;

export interface ChunkOptions {
  /** When the TTL index may delete the chunks. */
  expiresAt: Date;
  /** Such as encryption. A stored chunk may be some bytes longer than CHUNK_BYTES. */
  transform?: ChunkTransform;
}

export interface ChunkedFile extends ChunkOptions {
  id: string;
  /** At least one. */
  bytes: Buffer;
}

export interface ChunkWrite extends ChunkOptions {
  /** `write` stops after the current batch and rejects with the signal's reason. */
  signal?: AbortSignal;
  /** Receives each chunk, before `transform`. */
  onChunk?: (chunk: Buffer) => void;
  /**
   * Writes what describes the file. Called after the last `onChunk`. Concurrent with the last batch,
   * which takes a third less time.
   */
  withLast?: () => Promise<unknown>;
}

const isLastChunk = (n: number, length: number) => (n + 1) * CHUNK_BYTES >= length;

function* chunksOf(
  { id, bytes, expiresAt, transform }: ChunkedFile,
  onChunk?: ChunkWrite['onChunk'],
): Generator<StoredPdfChunk, void> {
  if (bytes.length === 0) throw new RangeError('a stored file has at least one byte');
  for (let n = 0; n * CHUNK_BYTES < bytes.length; n++) {
    const chunk = bytes.subarray(n * CHUNK_BYTES, (n + 1) * CHUNK_BYTES);
    onChunk?.(chunk);
    const data = transform?.(chunk, n, isLastChunk(n, bytes.length)) ?? chunk;
    yield { files_id: id, n, data, expiresAt };
  }
}

function* chunksOfAll(files: readonly ChunkedFile[]): Generator<StoredPdfChunk, void> {
  for (const file of files) yield* chunksOf(file);
}

/** Waits for all operations, even after a failure, and then throws the first error. */
async function allOf(operations: (Promise<unknown> | undefined)[]): Promise<void> {
  const failed = (await Promise.allSettled(operations)).find(({ status }) => status === 'rejected');
  if (failed) throw (failed as PromiseRejectedResult).reason;
}

/** `write` and `read` reject with the errors of the store while the database is unavailable. */
export class StoredChunks {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * Resolves when all chunks are stored. A file has at least one byte: throws RangeError for none.
   * After a failure some chunks may be stored; the caller calls `remove`.
   */
  write(id: string, bytes: Buffer, options: ChunkWrite): Promise<void> {
    const { onChunk, ...file } = options;
    return this.#insertAll(chunksOf({ id, bytes, ...file }, onChunk), options);
  }

  /** As `write`, with as few inserts as possible. */
  writeAll(files: readonly ChunkedFile[]): Promise<void> {
    return this.#insertAll(chunksOfAll(files));
  }

  /**
   * The bytes of a file, in chunks of at most CHUNK_BYTES. `length`: of the bytes given to `write`.
   * `open` reverses the transform. Throws Error when a chunk is missing.
   */
  async *read(fileId: string, length: number, open?: ChunkTransform): AsyncGenerator<Buffer, void> {
    const options = { ...this.#store.limits, promoteBuffers: true };
    for (let n = 0; n * CHUNK_BYTES < length; n++) {
      const chunk = await this.#limited(() =>
        this.#chunks.findOne({ files_id: fileId, n }, options),
      );
      if (!chunk) throw new Error('a chunk of a stored file is missing');
      yield open ? open(chunk.data, n, isLastChunk(n, length)) : chunk.data;
    }
  }

  /** Best effort, and never rejects: the TTL index deletes the rest. */
  async remove(...fileIds: string[]): Promise<void> {
    const { limits } = this.#store;
    await this.#limited(() =>
      this.#chunks.deleteMany({ files_id: { $in: fileIds } }, limits),
    ).catch(() => undefined);
  }

  get #chunks() {
    return this.#store.console.storedPdfChunks;
  }

  async #limited<T>(operation: () => Promise<T>): Promise<T> {
    this.#store.primary.throwIfMissing();
    return this.#store.limited(operation());
  }

  async #insertAll(
    chunks: Generator<StoredPdfChunk, void>,
    { signal, withLast }: Pick<ChunkWrite, 'signal' | 'withLast'> = {},
  ): Promise<void> {
    signal?.throwIfAborted();
    let batch: StoredPdfChunk[] = [];
    let bytes = 0;
    for (const chunk of chunks) {
      if (bytes >= BATCH_BYTES) {
        await this.#insert(batch);
        signal?.throwIfAborted();
        [batch, bytes] = [[], 0];
      }
      batch.push(chunk);
      bytes += chunk.data.length;
    }
    await allOf([withLast?.(), this.#insert(batch)]);
  }

  #insert(chunks: StoredPdfChunk[]) {
    return this.#limited(() =>
      this.#chunks.insertMany(chunks, { ordered: false, ...this.#store.limits }),
    );
  }
}
