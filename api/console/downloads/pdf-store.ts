// Keeps PDFs for a while, so that a link leads to them from any API process. Owns how many bytes an account may keep, and how a PDF goes in and out in pieces.
import { createHash } from 'node:crypto';
import { ApiError } from '../../../common/contract/errors.ts';
import { orUnavailable } from '../../accounts/account-errors.ts';
import type { Store, StoredPdfChunk, StoredPdfDocument } from '../../store/store.ts';
import { createToken, hashToken, isToken } from '../security/tokens.ts';

export interface PdfStoreLimits {
  /** How long a link works. */
  ttlMs: number;
  /** Of all PDFs that an account keeps at a time. Renders that run at the same moment may exceed it by what they make. */
  accountMaxBytes: number;
}

export interface NewPdf {
  renderId: string;
  account: string;
  user: string;
  filename: string;
  pages: number;
  pdf: Buffer;
}

/** All of them throw ApiError `unavailable` while the database does not answer. */
export interface PdfStore {
  /** Throws ApiError `rate_limited`, with the time until something goes, while the account keeps as much as it may. */
  checkRoom(account: string): Promise<void>;
  /** Resolves when every process can serve it. `token` is the link's and stands nowhere else. Ends with the signal's reason when that aborts. */
  keep(pdf: NewPdf, signal: AbortSignal): Promise<{ token: string; sha256: string; expiresAt: Date }>;
  /** `gone`: there was such a link, and its time is over. */
  byToken(token: string): Promise<StoredPdfDocument | 'gone' | undefined>;
  /** Of this person in this account; undefined for anybody else's and for one whose time is over. */
  byRender(renderId: string, whose: { account: string; user: string }): Promise<StoredPdfDocument | undefined>;
  /** Its bytes, in pieces of at most CHUNK_BYTES. Throws Error when a piece is missing. */
  read(kept: StoredPdfDocument): AsyncGenerator<Buffer, void>;
}

/** The default of GridFS: a power of two would leave each document just over one. */
export const CHUNK_BYTES = 255 * 1_024;
/** 4 MiB in one write. */
const CHUNKS_AT_ONCE = 16;
/** Who began to read before the link ended reads to the end. */
const READ_ON_MS = 10 * 60_000;
/** A link that has ended is still answered as one that was there. */
const REMEMBERED_MS = 7 * 86_400e3;

const full = (accountMaxBytes: number, retryAfterS: number) =>
  new ApiError(
    'rate_limited',
    `The account keeps as many PDFs for links as it may (${Math.round(accountMaxBytes / 2 ** 20)} MiB). Wait until a link has ended.`,
    { retryAfterS },
  );

/** A hundred MiB hashed and sent in one go would hold up every other render for a tenth of a second. */
function* batchesOf({ renderId, pdf }: NewPdf, expiresAt: Date): Generator<StoredPdfChunk[], void> {
  for (let from = 0; from < pdf.length; from += CHUNKS_AT_ONCE * CHUNK_BYTES) {
    const chunks: StoredPdfChunk[] = [];
    for (let at = from; at < Math.min(pdf.length, from + CHUNKS_AT_ONCE * CHUNK_BYTES); at += CHUNK_BYTES)
      chunks.push({ files_id: renderId, n: at / CHUNK_BYTES, data: pdf.subarray(at, at + CHUNK_BYTES), expiresAt });
    yield chunks;
  }
}

/** Waits for all of them, also when one fails, and then throws what the first one threw. */
async function allOf(operations: Promise<unknown>[]): Promise<void> {
  const failed = (await Promise.allSettled(operations)).find(({ status }) => status === 'rejected');
  if (failed) throw (failed as PromiseRejectedResult).reason;
}

export function createPdfStore(store: Store, { ttlMs, accountMaxBytes }: PdfStoreLimits, now = () => Date.now()): PdfStore {
  const { keptPdfs, keptPdfChunks } = store.console;
  const { limits } = store;

  async function limited<T>(operation: () => Promise<T>): Promise<T> {
    try {
      store.primary.throwIfMissing();
      return await store.limited(operation());
    } catch (error) {
      throw orUnavailable(error);
    }
  }

  async function checkRoom(account: string): Promise<void> {
    const at = new Date(now());
    const [found] = await limited(() =>
      keptPdfs
        .aggregate<{ bytes: number; first: Date }>(
          [
            { $match: { 'metadata.account': account, 'metadata.expiresAt': { $gt: at } } },
            { $group: { _id: null, bytes: { $sum: '$length' }, first: { $min: '$metadata.expiresAt' } } },
          ],
          limits,
        )
        .toArray(),
    );
    if (found && found.bytes >= accountMaxBytes)
      throw full(accountMaxBytes, Math.max(1, Math.ceil((found.first.getTime() - at.getTime()) / 1_000)));
  }

  const insertChunks = (chunks: StoredPdfChunk[]) => limited(() => keptPdfChunks.insertMany(chunks, { ordered: false, ...limits }));

  async function keep(given: NewPdf, signal: AbortSignal) {
    const { renderId, account, user, filename, pages, pdf } = given;
    const token = createToken();
    const at = now();
    const expiresAt = new Date(at + ttlMs);
    const rememberedUntil = new Date(at + ttlMs + REMEMBERED_MS);
    try {
      const hash = createHash('sha256');
      let last: StoredPdfChunk[] = [];
      for (const batch of batchesOf(given, new Date(at + ttlMs + READ_ON_MS))) {
        if (last.length > 0) await insertChunks(last);
        signal.throwIfAborted();
        for (const { data } of batch) hash.update(data);
        last = batch;
      }
      const sha256 = hash.digest('hex');
      const metadata = { account, user, hash: hashToken(token), sha256, pages, expiresAt, rememberedUntil };
      const kept = { _id: renderId, length: pdf.length, chunkSize: CHUNK_BYTES, uploadDate: new Date(at), filename, metadata };
      // At the same time, which takes a third less: nobody has the link before both are there.
      await allOf([insertChunks(last), limited(() => keptPdfs.insertOne(kept, limits))]);
      return { token, sha256, expiresAt };
    } catch (error) {
      // What this does not reach goes when the link would have ended; nobody was told of it.
      const remove = [
        limited(() => keptPdfs.deleteOne({ _id: renderId }, limits)),
        limited(() => keptPdfChunks.deleteMany({ files_id: renderId }, limits)),
      ];
      await Promise.allSettled(remove);
      throw error;
    }
  }

  const live = (kept: StoredPdfDocument | null) => (kept && kept.metadata.expiresAt.getTime() > now() ? kept : undefined);

  return {
    checkRoom,
    keep,
    async byToken(token) {
      if (!isToken(token)) return undefined;
      const kept = await limited(() => keptPdfs.findOne({ 'metadata.hash': hashToken(token) }, limits));
      return kept ? (live(kept) ?? 'gone') : undefined;
    },
    async byRender(renderId, { account, user }) {
      const whose = { _id: renderId, 'metadata.account': account, 'metadata.user': user };
      return live(await limited(() => keptPdfs.findOne(whose, limits)));
    },
    async *read({ _id, length }) {
      for (let n = 0; n * CHUNK_BYTES < length; n++) {
        const chunk = await limited(() => keptPdfChunks.findOne({ files_id: _id, n }, { ...limits, promoteBuffers: true }));
        if (!chunk) throw new Error('a piece of a kept PDF is missing');
        yield chunk.data;
      }
    },
  };
}
