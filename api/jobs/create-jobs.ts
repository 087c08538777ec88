// The parts of asynchronous renders in one process, and their services in order of their start.
import { repeatedly, type Service } from '../../common/lifecycle.ts';
import type { Log } from '../../common/log.ts';
import type { Metrics } from '../../common/operations.ts';
import type { ServedRules } from '../accounts/account-rules.ts';
import type { Plan } from '../accounts/plans.ts';
import { ProgramAudit } from '../history/program-audit.ts';
import { HELD_PER_BODY_BYTE } from '../http/body.ts';
import { createByteBudget } from '../http/byte-budget.ts';
import type { Leases } from '../leases/leases.ts';
import type { Store } from '../store/store.ts';
import { StoredChunks } from '../store/stored-chunks.ts';
import { BatchOperations } from './batch-operations.ts';
import { Batches } from './batches.ts';
import type { AdmittedAttempt } from './job-attempt.ts';
import { BacklogReader, readBacklog } from './job-backlog.ts';
import { createJobCipher } from './job-cipher.ts';
import { JobFiles } from './job-files.ts';
import { jobMetrics } from './job-metrics.ts';
import { JobOperations } from './job-operations.ts';
import { JobRunner, type RunnerDeps } from './job-runner.ts';
import { JobSweep } from './job-sweep.ts';
import { JobWatch } from './job-watch.ts';
import { Jobs } from './jobs.ts';
import { QueueLimit } from './queue-limit.ts';

/** For the use case: the runner has admitted the attempt, and settles it with the stored PDF. */
export const ADMITTED_LEASES: Leases<AdmittedAttempt> = {
  admit: async ({ lease }) => lease,
  settle: async () => undefined,
  release: async () => {},
};

export interface JobsParts
  extends Pick<
    RunnerDeps,
    'leases' | 'render' | 'budget' | 'renders' | 'workers' | 'dispatcher' | 'log'
  > {
  store: Store;
  plans: readonly Plan[];
  served: ServedRules;
  metrics: Metrics;
  /** PRESSROOM_SECRET. */
  secret: string;
}

/**
 * The share of the byte budget for asynchronous renders. The rest is for synchronous calls, also of
 * the same account.
 */
export const JOBS_SHARE = 1 / 2;

/**
 * Aborts the transactions of processes that died while they ended a job: they would block the
 * account for a minute, and with it the renewal of its leases. With the time that a transaction
 * must be idle, the longest pause is shorter than a lease lasts without renewals.
 */
const transactionSweep = (store: Store, log: Log): Service =>
  repeatedly({
    name: 'sweep of transactions',
    everyMs: 4_000,
    async run() {
      const aborted = await store.abortIdleTransactions();
      if (aborted > 0) log.warn({ aborted }, 'aborted idle transactions');
    },
    log,
    failure: 'could not read idle transactions',
    level: 'debug',
  });

export function createJobs({
  store,
  plans,
  served,
  secret,
  metrics,
  budget: whole,
  ...deps
}: JobsParts) {
  const { log } = deps;
  const budget = createByteBudget(Math.floor(whole.maxBytes * JOBS_SHARE), { whole });
  const operations = new JobOperations(store);
  const files = new JobFiles(new StoredChunks(store));
  const cipher = createJobCipher(secret);
  const watch = new JobWatch(operations, log);
  const backlog = new BacklogReader(accounts => readBacklog(store, { plans, ...served }, accounts));
  const meters = jobMetrics(metrics, {
    running: () => runner.running(),
    ready: () => runner.ready(),
    backlog: () => backlog.latest(),
  });
  const runner = new JobRunner({
    ...deps,
    budget,
    operations,
    files,
    cipher,
    watch,
    meters,
    backlog,
  });
  const queue = new QueueLimit({ store, plans, operations });
  const jobs = new Jobs({ operations, queue, files, cipher, watch, runner, meters });
  const batches = new BatchOperations(store);
  const audit = new ProgramAudit(store, log);
  const sweep = new JobSweep(operations, audit, log, meters);
  return {
    jobs,
    audit,
    /** A larger request could never run. */
    maxRequestBytes: Math.floor(budget.maxBytesOfOne / HELD_PER_BODY_BYTE),
    batches: new Batches({ batches, queue, files, cipher, runner, jobs }),
    services: [
      transactionSweep(store, log),
      repeatedly({
        name: 'sweep of asynchronous renders',
        everyMs: 10_000,
        run: () => sweep.run(),
        log,
        failure: 'could not read expired asynchronous renders',
      }),
      runner,
    ],
    /** Stops before the server. */
    watch,
  };
}
