// Repairs and expires jobs: those whose process died are tried again, those that have expired lose
// their keys. Every process does it; each step is atomic, so that one of them has an effect.
import type { Service } from '../../common/lifecycle.ts';
import type { Log } from '../../common/log.ts';
import { interrupted, MAX_ATTEMPTS } from './job-attempt.ts';
import type { JobOperations } from './job-operations.ts';
import { isFinalStatus } from './job-status.ts';

const SWEEP_MS = 10_000;

export class JobSweep implements Service {
  readonly name = 'sweep of asynchronous renders';
  readonly #operations: JobOperations;
  readonly #log: Log;
  readonly #everyMs: number;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #stopped = false;

  constructor(operations: JobOperations, log: Log, everyMs = SWEEP_MS) {
    this.#operations = operations;
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
      await this.#retryOrphans();
      await this.#expire();
    } catch (error) {
      this.#log.debug({ reason: (error as Error).message }, 'could not sweep asynchronous renders');
    }
    if (this.#stopped) return;
    // With jitter, so that processes that started together do not sweep together.
    const pauseMs = this.#everyMs * (0.75 + Math.random() / 2);
    this.#timer = setTimeout(() => {
      this.#running = this.#loop();
    }, pauseMs);
  }

  async #retryOrphans(): Promise<void> {
    for (const { attempts, ...attempt } of await this.#operations.orphans()) {
      const fields = { jobId: attempt._id, accountId: attempt.account, attempts };
      this.#log.warn(fields, 'an asynchronous render was interrupted');
      if (attempts < MAX_ATTEMPTS) await this.#operations.requeue(attempt, {});
      else {
        const { code, message, reason } = interrupted();
        const error = { code, message, ...(reason && { reason }) };
        await this.#operations.endAlone(attempt, { status: 'failed', error });
      }
    }
  }

  async #expire(): Promise<void> {
    const expired = await this.#operations.expired();
    if (expired.length === 0) return;
    for (const { status, ...job } of expired)
      if (!isFinalStatus(status)) await this.#operations.endAlone(job, { status: 'expired' });
    await this.#operations.deleteKeys(expired);
  }
}
