// Repairs and expires jobs: those whose process died are tried again, those that have expired lose
// their keys. Every process does it; each step is atomic, so that one of them has an effect.
import type { Log } from '../../common/log.ts';
import type { ProgramAudit } from '../history/program-audit.ts';
import { attemptsOf } from './attempt-log.ts';
import { interrupted, MAX_ATTEMPTS, storedError } from './job-attempt.ts';
import type { JobMetrics } from './job-metrics.ts';
import type { ExpiredJob, JobEnd, JobName, JobOperations } from './job-operations.ts';
import { isFinalStatus } from './job-status.ts';

export class JobSweep {
  readonly #operations: JobOperations;
  readonly #audit: Pick<ProgramAudit, 'rendersPurged'>;
  readonly #log: Log;
  readonly #meters: JobMetrics;

  constructor(
    operations: JobOperations,
    audit: Pick<ProgramAudit, 'rendersPurged'>,
    log: Log,
    meters: JobMetrics,
  ) {
    this.#operations = operations;
    this.#audit = audit;
    this.#log = log;
    this.#meters = meters;
  }

  /** Rejects when the expired jobs cannot be read. */
  async run(): Promise<void> {
    await this.#tried(() => this.#retryOrphans());
    await this.#expire();
  }

  /** A job that cannot be changed does not keep the others from it. */
  async #tried(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#log.warn({ reason: (error as Error).message }, 'could not sweep asynchronous renders');
    }
  }

  async #retryOrphans(): Promise<void> {
    for (const attempt of await this.#operations.orphans()) {
      const attempts = attemptsOf(attempt);
      const fields = { jobId: attempt._id, accountId: attempt.account, attempts };
      this.#meters.interrupted();
      this.#log.warn(fields, 'an asynchronous render was interrupted');
      await this.#tried(async () => {
        if (attempts < MAX_ATTEMPTS) return this.#operations.requeue(attempt, {});
        const error = storedError(interrupted());
        await this.#end(attempt, { status: 'failed', error, lastInterrupted: true });
      });
    }
  }

  /** Returns false when the job has changed. */
  async #end(job: JobName, end: JobEnd): Promise<boolean> {
    const hasEnded = await this.#operations.endAlone(job, end);
    if (hasEnded) this.#meters.ended(end.status);
    return hasEnded;
  }

  async #expire(): Promise<void> {
    const expired = await this.#operations.expired();
    for (const [account, jobs] of Map.groupBy(expired, job => job.account))
      await this.#tried(() => this.#purge(account, jobs));
  }

  /** Counts the jobs of which this process deleted the key: another one may sweep the same. */
  async #purge(account: string, jobs: ExpiredJob[]): Promise<void> {
    let purged = 0;
    try {
      for (const { status, ...job } of jobs)
        if (!isFinalStatus(status))
          await this.#tried(async () => {
            if (await this.#end(job, { status: 'expired' })) purged++;
          });
      purged += await this.#operations.deleteKeys(account, jobs);
    } finally {
      if (purged > 0) await this.#audit.rendersPurged(account, purged);
    }
  }
}
