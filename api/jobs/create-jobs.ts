// The parts of asynchronous renders in one process, and their services in order of their start.
import type { Service } from '../../common/lifecycle.ts';
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
import { TransactionSweep } from './transaction-sweep.ts';

export interface AsyncJobs {
  jobs: Jobs;
  batches: Batches;
  audit: ProgramAudit;
  /** A larger request could never run. */
  maxRequestBytes: number;
  services: Service[];
  /** Stops before the server. */
  watch: Service;
}

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

export function createJobs({
  store,
  plans,
  served,
  secret,
  metrics,
  budget: whole,
  ...deps
}: JobsParts): AsyncJobs {
  const budget = createByteBudget(Math.floor(whole.maxBytes * JOBS_SHARE), { whole });
  const operations = new JobOperations(store);
  const files = new JobFiles(new StoredChunks(store));
  const cipher = createJobCipher(secret);
  const watch = new JobWatch(operations, deps.log);
  const backlog = new BacklogReader(accounts => readBacklog(store, { plans, ...served }, accounts));
  const meters = jobMetrics(metrics, {
    running: () => runner.running(),
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
  const audit = new ProgramAudit(store, deps.log);
  return {
    jobs,
    audit,
    maxRequestBytes: Math.floor(budget.maxBytesOfOne / HELD_PER_BODY_BYTE),
    batches: new Batches({ batches, queue, files, cipher, runner, jobs }),
    services: [
      new TransactionSweep(store, deps.log),
      new JobSweep(operations, audit, deps.log, meters),
      runner,
    ],
    watch,
  };
}
