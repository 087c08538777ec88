// Every few minutes, finishes deletions of accounts: those that were interrupted, and what calls in
// progress stored after the deletion. Every process does it; each step can be repeated.
import type { Service } from '../../common/lifecycle.ts';
import type { Log } from '../../common/log.ts';
import type { AccountDeletion } from './account-deletion.ts';

const EVERY_MS = 300e3;

export class DeletionSweep implements Service {
  readonly name = 'sweep of deleted accounts';
  readonly #deletion: Pick<AccountDeletion, 'finishAll'>;
  readonly #log: Log;
  readonly #everyMs: number;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  readonly #stopping = new AbortController();

  constructor(deletion: Pick<AccountDeletion, 'finishAll'>, log: Log, everyMs = EVERY_MS) {
    this.#deletion = deletion;
    this.#log = log;
    this.#everyMs = everyMs;
  }

  async start(): Promise<void> {
    this.#running = this.#loop();
  }

  /** A deletion may take minutes. Another process, or the next one, goes on. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    clearTimeout(this.#timer);
    await this.#running;
  }

  async #loop(): Promise<void> {
    const { signal } = this.#stopping;
    try {
      await this.#deletion.finishAll(signal);
    } catch (error) {
      if (!signal.aborted)
        this.#log.warn({ reason: (error as Error).message }, 'could not finish deleting accounts');
    }
    if (signal.aborted) return;
    // With jitter, so that processes that started together do not sweep together.
    this.#timer = setTimeout(
      () => {
        this.#running = this.#loop();
      },
      this.#everyMs * (0.75 + Math.random() / 2),
    );
  }
}
