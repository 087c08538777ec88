// Workers for `pressroom doctor`, through the API's own registry: count, slots, sandbox and clocks.
import { setTimeout as sleep } from 'node:timers/promises';
import { type CompleteApiConfig, createPool } from '../../api/api.ts';
import { createLog } from '../../common/log.ts';
import { PING_MS, type WorkerStatus } from '../../common/protocol.ts';
import { TICKET_LIFE_MS } from '../../common/ticket.ts';
import { checkError, checkPassed, checkWarning, type DoctorCheck } from './doctor-check.ts';

export interface SeenWorker
  extends Pick<WorkerStatus, 'capacity' | 'draining' | 'chrome' | 'release' | 'sandbox'> {
  address: string;
  /** Undefined for a worker of an older release. */
  clockAheadMs: number | undefined;
}

export interface WorkersFacts {
  /** PRESSROOM_WORKERS. */
  sources: readonly string[];
  pool: string;
  workers: readonly SeenWorker[];
  /** Why workers or their names were not used. */
  problems: readonly string[];
}

/** A worker sends its status when an API connects, and then every PING_MS. */
const WAIT_MS = 2 * PING_MS;
/** Time without a change after which no further worker is expected. */
const SETTLED_MS = 1_000;
const CLOCK_WARNING_MS = 1_000;
const CLOCK_ERROR_MS = TICKET_LIFE_MS / 2;

/** Reasons in the log lines of the API's worker discovery. */
function problemCollector(): { log: ReturnType<typeof createLog>; problems(): string[] } {
  const found = new Set<string>();
  const write = (text: string) => {
    const { msg, worker, name, problem, err } = JSON.parse(text) as Record<string, unknown>;
    const reason = problem ?? (err as { message?: string } | undefined)?.message;
    found.add([worker ?? name, msg, reason].filter(Boolean).join(': '));
  };
  return { log: createLog('warn', 'doctor', { write }), problems: () => [...found] };
}

/** Connects to the workers of the configuration as an API process does. Claims no slot. */
export async function workersFacts(
  config: Pick<CompleteApiConfig, 'workers' | 'workersTls' | 'pool' | 'poolSecret'>,
  waitMs = WAIT_MS,
): Promise<WorkersFacts> {
  const { log, problems } = problemCollector();
  const { tunnels, workers } = createPool(config, log);
  const { registry } = workers;
  const clocks = new Map<string, number>();
  const seen = new Map<string, number>();
  let changedMs = performance.now();
  registry.onChange(() => {
    for (const { address, status } of registry.list()) {
      if (status.sentAtMs === undefined || status.sentAtMs === seen.get(address)) continue;
      seen.set(address, status.sentAtMs);
      if (!clocks.has(address)) changedMs = performance.now();
      clocks.set(address, status.sentAtMs - Date.now());
    }
  });
  await tunnels.start();
  await workers.start();
  try {
    const endMs = performance.now() + waitMs;
    while (performance.now() < endMs) {
      await sleep(50);
      if (registry.list().length > 0 && performance.now() - changedMs > SETTLED_MS) break;
    }
    const all = registry.list().map(({ address, status }) => ({
      address,
      ...status,
      clockAheadMs: clocks.get(address),
    }));
    return { sources: config.workers, pool: config.pool, workers: all, problems: problems() };
  } finally {
    await workers.stop();
    await tunnels.stop(AbortSignal.timeout(1_000));
  }
}

export function checkWorkers(facts: WorkersFacts): DoctorCheck[] {
  const { workers, sources, pool, problems } = facts;
  if (workers.length === 0)
    return [
      checkError(
        'Workers',
        `No worker of the pool ${pool} responds at ${sources.join(', ')}${problems.length > 0 ? ` (${problems.join('; ')})` : ''}.`,
        'Check that workers run, PRESSROOM_WORKERS, the network policies, and that API and workers have the same PRESSROOM_POOL_SECRET.',
      ),
    ];
  return [available(workers), sandboxes(workers), clocksOf(workers)];
}

function available(workers: readonly SeenWorker[]): DoctorCheck {
  const serving = workers.filter(({ draining, chrome }) => !draining && chrome === 'up');
  const slots = serving.reduce((sum, { capacity }) => sum + capacity, 0);
  const draining = workers.filter(each => each.draining).length;
  const without = workers.length - serving.length - draining;
  const message = `${serving.length} of ${workers.length} workers can render, with ${slots} slots${draining > 0 ? `; ${draining} are draining` : ''}${without > 0 ? `; ${without} have no running Chrome` : ''}.`;
  if (serving.length > 0 && without === 0) return checkPassed('Workers', message);
  const fix =
    "Check the workers' log; the usual causes are memory and missing permissions for the sandbox.";
  return (serving.length === 0 ? checkError : checkWarning)('Workers', message, fix);
}

function sandboxes(workers: readonly SeenWorker[]): DoctorCheck {
  const off = workers.filter(({ sandbox }) => sandbox === false).map(({ address }) => address);
  if (off.length > 0)
    return checkWarning(
      'Sandbox',
      `Chrome runs without its sandbox on ${listed(off)}: a page that exploits its renderer controls the worker.`,
      'Unset PRESSROOM_CHROME_SANDBOX and let the workers use their seccomp profile.',
    );
  const unknown = workers.filter(({ sandbox }) => sandbox === undefined).length;
  return checkPassed(
    'Sandbox',
    unknown > 0
      ? `${unknown} of ${workers.length} workers are of an older release and do not report their sandbox.`
      : `Chrome runs in its sandbox on all ${workers.length} workers.`,
  );
}

/** Names the first three. */
const listed = (names: readonly string[]) =>
  names.length <= 3
    ? names.join(', ')
    : `${names.slice(0, 3).join(', ')} and ${names.length - 3} more`;

function clocksOf(workers: readonly SeenWorker[]): DoctorCheck {
  const subject = 'Clocks of workers';
  const known = workers.flatMap(({ address, clockAheadMs }) =>
    clockAheadMs === undefined ? [] : [{ address, clockAheadMs }],
  );
  if (known.length === 0)
    return checkPassed(
      subject,
      'The workers are of an older release and do not report their clocks.',
    );
  const { address, clockAheadMs } = known.reduce((most, each) =>
    Math.abs(each.clockAheadMs) > Math.abs(most.clockAheadMs) ? each : most,
  );
  const apartMs = Math.abs(Math.round(clockAheadMs));
  if (apartMs < CLOCK_WARNING_MS)
    return checkPassed(subject, 'The clocks of this process and of the workers agree.');
  return (apartMs < CLOCK_ERROR_MS ? checkWarning : checkError)(
    subject,
    `The clock of ${address} is ${apartMs} ms ${clockAheadMs > 0 ? 'ahead of' : 'behind'} the clock of this process.`,
    `Synchronize all clocks with NTP: workers reject the API when they differ by more than ${TICKET_LIFE_MS / 1_000} s.`,
  );
}
