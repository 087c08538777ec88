// Submits the parts of an input for `pressroom batch`, each once, also over several runs.
import { setTimeout as sleep } from 'node:timers/promises';
import type { AsyncRender } from '../common/contract/async-renders.ts';
import { BATCH_TYPES, type Batch } from '../common/contract/batches.ts';
import type { BatchDirectory, SavedState } from './batch-directory.ts';
import { batchPath } from './batch-downloads.ts';
import type { InputPart } from './batch-input.ts';
import { COMMAND } from './command-name.ts';
import { CliError } from './failure.ts';
import { type HttpApi, RETRY_AFTER_MS, RequestError } from './http-api.ts';
import { renderPages } from './render-pages.ts';

interface SubmissionDeps {
  api: HttpApi;
  directory: BatchDirectory;
  retryForMs: number;
  signal: AbortSignal;
  /** Makes room in the queue of the account. False if there is nothing to wait for. */
  makeRoom(): Promise<boolean>;
  /** Called once when a submission has to wait. */
  waits(reason: RequestError): void;
}

/** Renders can seem a little older than their submission, because `Date` has whole seconds. */
const CLOCK_TOLERANCE_MS = 5_000;

export class BatchSubmission {
  readonly #deps: SubmissionDeps;

  constructor(deps: SubmissionDeps) {
    this.#deps = deps;
  }

  /**
   * Submits the part and returns the ID of its batch. It is saved before this resolves. A signal does
   * not interrupt a request, whose result would be unknown.
   */
  async submit({ requests, sha256, body }: InputPart): Promise<string> {
    const { api, directory, retryForMs, signal, makeRoom, waits } = this.#deps;
    const { state } = directory;
    const lines = `${requests[0]!.line} to ${requests.at(-1)!.line}`;
    let deadline = performance.now() + retryForMs;
    let isWaiting = false;
    let madeRoom = false;
    for (;;) {
      signal.throwIfAborted();
      if (state.submitting) await this.#checkUnclear(state.submitting.since, lines);
      state.submitting = { requests: requests.length, sha256, since: new Date().toISOString() };
      await directory.save();
      try {
        const request = { method: 'POST' as const, body: body(), type: BATCH_TYPES[0] };
        const { id } = (await api.json<Batch>('/v1/batches', request)).body;
        await this.#saveId({ requests: requests.length, sha256, id });
        return id;
      } catch (error) {
        if (!(error instanceof RequestError)) throw error;
        if (!error.isUnclear) {
          delete state.submitting;
          await directory.save();
        }
        if (error.retryAfterMs === undefined) throw error;
        if (error.status === 429 && (await makeRoom())) {
          deadline = performance.now() + retryForMs;
          madeRoom = true;
          continue;
        }
        // The server counts waiting renders once a second, so that it may not know of the room yet.
        const afterMs = madeRoom ? RETRY_AFTER_MS : error.retryAfterMs;
        if (performance.now() + afterMs > deadline) throw error;
        if (!isWaiting && !madeRoom) {
          waits(error);
          isWaiting = true;
        }
        madeRoom = false;
        await sleep(afterMs, undefined, { signal });
      }
    }
  }

  /** Saves the ID of a batch that was submitted for this part. Throws CliError if it differs. */
  async adopt({ requests, sha256 }: InputPart, id: string): Promise<string> {
    const { api, signal } = this.#deps;
    const { total } = (await api.json<Batch>(batchPath(id), { signal })).body;
    if (sha256 !== this.#deps.directory.state.submitting?.sha256)
      throw new CliError('The input has changed since it was submitted. Use the unchanged input.');
    if (total !== requests.length)
      throw new CliError(
        `The batch ${id} has ${total} renders, but ${requests.length} were submitted. Use another ID, or --resubmit.`,
      );
    await this.#saveId({ requests: total, sha256, id });
    return id;
  }

  /** Throws CliError if the server may have stored a batch whose ID is not in the state. */
  async #checkUnclear(since: string, lines: string): Promise<void> {
    const { directory } = this.#deps;
    const known = new Set(directory.state.batches.map(({ id }) => id));
    for await (const { batch } of this.#rendersSince(since))
      if (batch && !known.has(batch.id))
        throw new CliError(
          `Lines ${lines} were submitted, but the response did not arrive. The server has the batch ${batch.id}: see \`${COMMAND} renders list --batch ${batch.id}\`. If it contains these lines, run the command again with \`--adopt ${batch.id}\`. If another program submitted it, run the command again with \`--resubmit\`.`,
        );
  }

  async #saveId(batch: SavedState['batches'][number]): Promise<void> {
    const { directory } = this.#deps;
    directory.state.batches.push(batch);
    delete directory.state.submitting;
    await directory.save();
  }

  /** `since`: of the clock of this machine. */
  async *#rendersSince(since: string): AsyncGenerator<AsyncRender, void> {
    const { api, retryForMs, signal } = this.#deps;
    for await (const { items, headers } of renderPages(api, { retryForMs, signal })) {
      const aheadMs = Date.parse(headers.get('date') ?? '') - Date.now() || 0;
      for (const render of items) {
        const createdMs = Date.parse(render.created_at);
        if (createdMs < Date.parse(since) + aheadMs - CLOCK_TOLERANCE_MS) return;
        yield render;
      }
    }
  }
}
