// Stores PDFs in chunks until their links expire, so that any API process can serve them. Enforces
// the quota of an account.
import { createHash } from 'node:crypto';
import { ApiError } from '../../../common/contract/errors.ts';
import { orUnavailable } from '../../accounts/account-errors.ts';
import type { Store, StoredPdfDocument } from '../../store/store.ts';
import { CHUNK_BYTES, StoredChunks } from '../../store/stored-chunks.ts';
import { createToken, hashToken, isToken } from '../security/tokens.ts';

export interface PdfStoreLimits {
  /** How long a link works. */
  ttlMs: number;
  /** Quota of an account. Concurrent renders may exceed it by their own PDFs. */
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

/** A download that began before the link expired can finish. */
const READ_ON_MS = 10 * 60_000;
/** For this long an expired link returns `gone` instead of `not_found`. */
const GONE_ANSWER_MS = 7 * 86_400e3;

const full = (accountMaxBytes: number, retryAfterS: number) =>
  new ApiError(
    'rate_limited',
    `The account has reached its storage limit for PDF links (${Math.round(accountMaxBytes / 2 ** 20)} MiB). Wait until a link expires.`,
    { retryAfterS },
  );

/** Every method throws ApiError `unavailable` while the database is unavailable. */
export class PdfStore {
  readonly #store: Store;
  readonly #chunks: StoredChunks;
  readonly #limits: PdfStoreLimits;

  constructor(store: Store, limits: PdfStoreLimits) {
    this.#store = store;
    this.#chunks = new StoredChunks(store);
    this.#limits = limits;
  }

  /**
   * Throws ApiError `rate_limited`, with the time until a PDF expires, while the account has
   * reached its quota.
   */
  async checkQuota(account: string): Promise<void> {
    const { accountMaxBytes } = this.#limits;
    const at = new Date();
    const [found] = await this.#limited(() =>
      this.#files
        .aggregate<{ bytes: number; first: Date }>(
          [
            { $match: { 'metadata.account': account, 'metadata.expiresAt': { $gt: at } } },
            {
              $group: {
                _id: null,
                bytes: { $sum: '$length' },
                first: { $min: '$metadata.expiresAt' },
              },
            },
          ],
          this.#store.limits,
        )
        .toArray(),
    );
    if (found && found.bytes >= accountMaxBytes)
      throw full(
        accountMaxBytes,
        Math.max(1, Math.ceil((found.first.getTime() - at.getTime()) / 1_000)),
      );
  }

  /**
   * Resolves when every process can serve the PDF. `token` is part of the link and not stored.
   * Rejects with the signal's reason when it aborts.
   */
  async save(
    given: NewPdf,
    signal: AbortSignal,
  ): Promise<{ token: string; sha256: string; expiresAt: Date }> {
    const { renderId, account, user, filename, pages, pdf } = given;
    const { limits } = this.#store;
    const token = createToken();
    const at = Date.now();
    const { ttlMs } = this.#limits;
    const expiresAt = new Date(at + ttlMs);
    const rememberedUntil = new Date(at + ttlMs + GONE_ANSWER_MS);
    const hash = createHash('sha256');
    let sha256 = '';
    const saveDocument = () => {
      sha256 = hash.digest('hex');
      const metadata = {
        account,
        user,
        hash: hashToken(token),
        sha256,
        pages,
        expiresAt,
        rememberedUntil,
      };
      const file = {
        _id: renderId,
        length: pdf.length,
        chunkSize: CHUNK_BYTES,
        uploadDate: new Date(at),
        filename,
        metadata,
      };
      return this.#limited(() => this.#files.insertOne(file, limits));
    };
    try {
      await this.#chunks.write(renderId, pdf, {
        expiresAt: new Date(at + ttlMs + READ_ON_MS),
        signal,
        onChunk: chunk => hash.update(chunk),
        withLast: saveDocument,
      });
      return { token, sha256, expiresAt };
    } catch (error) {
      await this.#remove(renderId);
      throw orUnavailable(error);
    }
  }

  /** `gone`: the link has expired. Undefined also for a PDF of a deleted account. */
  async byToken(token: string): Promise<StoredPdfDocument | 'gone' | undefined> {
    if (!isToken(token)) return undefined;
    const file = await this.#limited(() =>
      this.#files.findOne({ 'metadata.hash': hashToken(token) }, this.#store.limits),
    );
    if (!file || !(await this.#hasAccount(file))) return undefined;
    return this.#unexpired(file) ?? 'gone';
  }

  /** The user's own PDF of this account; undefined for any other, and for one that has expired. */
  async byRender(
    renderId: string,
    { account, user }: { account: string; user: string },
  ): Promise<StoredPdfDocument | undefined> {
    const owned = { _id: renderId, 'metadata.account': account, 'metadata.user': user };
    return this.#unexpired(
      await this.#limited(() => this.#files.findOne(owned, this.#store.limits)),
    );
  }

  /** The bytes, in chunks of at most CHUNK_BYTES. Throws Error when a chunk is missing. */
  async *read({
    _id,
    length,
  }: Pick<StoredPdfDocument, '_id' | 'length'>): AsyncGenerator<Buffer, void> {
    try {
      yield* this.#chunks.read(_id, length);
    } catch (error) {
      throw orUnavailable(error);
    }
  }

  get #files() {
    return this.#store.console.storedPdfs;
  }

  async #limited<T>(operation: () => Promise<T>): Promise<T> {
    try {
      this.#store.primary.throwIfMissing();
      return await this.#store.limited(operation());
    } catch (error) {
      throw orUnavailable(error);
    }
  }

  /** The data of a deleted account is deleted a little later than the account. */
  async #hasAccount({ metadata: { account: _id } }: StoredPdfDocument): Promise<boolean> {
    const { accounts, limits } = this.#store;
    return (
      (await this.#limited(() => accounts.countDocuments({ _id }, { limit: 1, ...limits }))) > 0
    );
  }

  /** Best effort: the TTL index deletes the rest, and no caller has the link. */
  async #remove(renderId: string): Promise<void> {
    const { limits } = this.#store;
    await Promise.allSettled([
      this.#limited(() => this.#files.deleteOne({ _id: renderId }, limits)),
      this.#chunks.remove(renderId),
    ]);
  }

  #unexpired(file: StoredPdfDocument | null): StoredPdfDocument | undefined {
    return file && file.metadata.expiresAt.getTime() > Date.now() ? file : undefined;
  }
}
