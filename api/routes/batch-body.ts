// Reads the body of a batch: its render requests are checked and staged while it arrives, so that a
// batch takes little memory. Collects the mistakes of all of them.
import { MAX_BATCH_RENDERS } from '../../common/contract/batches.ts';
import { ApiError, invalid } from '../../common/contract/errors.ts';
import { isJsonObject } from '../../common/contract/problems.ts';
import { HELD_PER_BODY_BYTE, parseAnyJson } from '../http/body.ts';
import type { Reservation } from '../http/byte-budget.ts';
import { JsonArrayItems, type JsonItem, type JsonItems, JsonLines } from '../http/json-items.ts';
import type { StagedBatch } from '../jobs/staged-batch.ts';
import type { RenderSubmission } from '../jobs/stored-job.ts';

/** The reading ends with the last of them. */
export const MAX_MISTAKES = 20;

interface BatchBodyDeps {
  staged: StagedBatch;
  reservation: Reservation;
  /** Of one render request with its defaults, */
  maxItemBytes: number;
  /** and of all. */
  maxBytes: number;
  /** Throws ApiError. */
  parse(item: unknown): RenderSubmission;
}

const tooMany = () =>
  invalid(
    `A batch has at most ${MAX_BATCH_RENDERS} render requests. Submit the others as another.`,
  );

const tooLarge = (what: string, maxBytes: number) =>
  new ApiError(
    'payload_too_large',
    `With its defaults, ${what} larger than ${maxBytes} bytes. Leave large fields out of them.`,
  );

export class BatchBody {
  readonly #deps: BatchBodyDeps;
  readonly #items: JsonItems;
  readonly #mistakes: string[] = [];
  #defaults: Record<string, unknown> | undefined;
  /** They are part of each request that is staged. */
  #defaultsBytes = 0;
  #requests = 0;
  #requestBytes = 0;
  #reservedBytes = 0;

  constructor(isArray: boolean, deps: BatchBodyDeps) {
    this.#deps = deps;
    const { maxItemBytes } = deps;
    const reserve = (bytes: number) => this.#reserve(bytes);
    this.#items = isArray
      ? new JsonArrayItems({ maxItemBytes, reserve })
      : new JsonLines({ maxItemBytes, reserve });
  }

  /** Rejects with ApiError, and with the errors of the store. */
  async take(piece: Buffer): Promise<void> {
    for (const item of this.#items.push(piece)) await this.#check(item);
    if (this.#mistakes.length > 0) this.#releaseComplete();
  }

  /** Call once, after the last piece. Rejects with ApiError for an invalid or empty batch. */
  async end(): Promise<void> {
    const last = this.#items.end();
    if (last) await this.#check(last);
    if (this.#mistakes.length > 0) throw this.#invalidBatch();
    if (this.#requests === 0)
      throw invalid('The batch is empty. Send at least one render request, with `html` or `url`.');
    await this.#deps.staged.flush();
    this.#releaseComplete();
  }

  async #check(item: JsonItem): Promise<void> {
    const submitted = await this.#requestIn(item);
    const { staged } = this.#deps;
    if (submitted && this.#mistakes.length === 0) {
      if (!staged.add(submitted, this.#bytesOf(item))) return;
      await staged.flush();
    }
    this.#releaseComplete();
  }

  /** Those of a request with its defaults, which are reserved. Throws ApiError for too many. */
  #bytesOf({ bytes: { length }, where }: JsonItem): number {
    const { maxItemBytes, maxBytes } = this.#deps;
    const bytes = length + this.#defaultsBytes;
    this.#requestBytes += bytes;
    if (bytes > maxItemBytes) throw tooLarge(`${where} is`, maxItemBytes);
    if (this.#requestBytes > maxBytes) throw tooLarge('the batch is', maxBytes);
    const error = this.#reserve(this.#defaultsBytes);
    if (error) throw error;
    return bytes;
  }

  /** Undefined for an item with mistakes, which are collected, and for the defaults. */
  async #requestIn({ bytes, where }: JsonItem): Promise<RenderSubmission | undefined> {
    let inDefaults = false;
    try {
      const item = await parseAnyJson(bytes, 'It');
      inDefaults =
        this.#requests === 0 && isJsonObject(item) && Object.keys(item).join() === 'defaults';
      if (inDefaults)
        return this.#setDefaults((item as { defaults: unknown }).defaults, bytes.length);
      this.#requests++;
      if (this.#requests <= MAX_BATCH_RENDERS)
        return this.#deps.parse(isJsonObject(item) ? { ...this.#defaults, ...item } : item);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.#mistakes.push(`${where}: ${error.message}`);
      // Those of the defaults would be mistakes of each request.
      if (!inDefaults && this.#mistakes.length < MAX_MISTAKES) return undefined;
    }
    throw this.#mistakes.length > 0 ? this.#invalidBatch() : tooMany();
  }

  #setDefaults(defaults: unknown, bytes: number): undefined {
    if (this.#defaults) throw invalid('`defaults` can be given once.');
    if (!isJsonObject(defaults)) throw invalid('`defaults` must be an object.');
    const hasDocument = 'html' in defaults || 'url' in defaults;
    this.#deps.parse(hasDocument ? defaults : { html: 'x', ...defaults });
    this.#defaults = defaults;
    this.#defaultsBytes = bytes;
  }

  #invalidBatch(): ApiError {
    const count = this.#mistakes.length;
    const found =
      count === 1
        ? '1 render request of the batch is invalid'
        : `${count === MAX_MISTAKES ? 'At least ' : ''}${count} render requests of the batch are invalid`;
    return invalid(`${found}, so none was queued. ${this.#mistakes.join(' ')}`);
  }

  #reserve(bytes: number): ApiError | undefined {
    const { reservation } = this.#deps;
    if (!reservation.reserve(bytes * HELD_PER_BODY_BYTE)) return reservation.overBudget();
    this.#reservedBytes += bytes;
    return undefined;
  }

  /** The memory of items that are stored, or have mistakes. */
  #releaseComplete(): void {
    const heldBytes = this.#items.pendingBytes + this.#defaultsBytes;
    this.#deps.reservation.release((this.#reservedBytes - heldBytes) * HELD_PER_BODY_BYTE);
    this.#reservedBytes = heldBytes;
  }
}
