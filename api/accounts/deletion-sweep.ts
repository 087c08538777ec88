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
  #stopped = false;

  constructor(deletion: Pick<AccountDeletion, 'finishAll'>, log: Log, everyMs = EVERY_MS) {
    this.#deletion = deletion;
    this.#log = log;
    this.#everyMs = everyMs;
  }

  async start(): Promise<void> {
    this.#running = this.#loop();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  async #loop(): Promise<void> {
    try {
      await this.#deletion.finishAll();
    } catch (error) {
      this.#log.warn({ reason: (error as Error).message }, 'could not finish deleting accounts');
    }
    if (this.#stopped) return;
    // With jitter, so that processes that started together do not sweep together.
    this.#timer = setTimeout(
      () => {
        this.#running = this.#loop();
      },
      this.#everyMs * (0.75 + Math.random() / 2),
    );
  }
}
