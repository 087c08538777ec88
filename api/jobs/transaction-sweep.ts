// Aborts the transactions of processes that died while they ended a job: they would block the account
// for a minute, and with it the renewal of its leases.
import type { Service } from '../../common/lifecycle.ts';
import type { Log } from '../../common/log.ts';
import type { Store } from '../store/store.ts';

/** With the time that a transaction must be idle, less than a lease lasts without renewals. */
const EVERY_MS = 5_000;

export class TransactionSweep implements Service {
  readonly name = 'sweep of transactions';
  readonly #store: Pick<Store, 'abortIdleTransactions'>;
  readonly #log: Log;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(store: Pick<Store, 'abortIdleTransactions'>, log: Log) {
    this.#store = store;
    this.#log = log;
  }

  async start(): Promise<void> {
    void this.#loop();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  async #loop(): Promise<void> {
    try {
      const aborted = await this.#store.abortIdleTransactions();
      if (aborted > 0) this.#log.warn({ aborted }, 'aborted idle transactions');
    } catch (error) {
      this.#log.debug({ reason: (error as Error).message }, 'could not read idle transactions');
    }
    if (!this.#stopped) this.#timer = setTimeout(() => void this.#loop(), EVERY_MS);
  }
}
