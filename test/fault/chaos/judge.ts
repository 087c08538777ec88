// The checks after a chaos run: the invariants of the design, counted independently of Pressroom.
import { eventually } from '../../support/eventually.ts';
import type { Deployment } from '../harness/deployment.ts';
import type { Ledger } from '../harness/ledger.ts';
import { quiet } from '../harness/quiet.ts';
import type { Callers, Visit } from './callers.ts';
import type { Harm } from './faults.ts';

/** The answers that a caller may get during faults. All others are errors of the service. */
const FAIR: Record<string, ReadonlySet<string>> = {
  200: new Set(['ok']),
  400: new Set(['validation_error']),
  429: new Set(['concurrency_limit']),
  502: new Set([
    'database',
    'no_worker',
    'worker_lost',
    'queue_full',
    'page_crash',
    'page_timeout',
  ]),
  left: new Set(['']),
  broken: new Set(['']),
};
/**
 * The time limit of a call: admission, two waits in the queue, two renders, a slot that ends late;
 * doubled for a busy machine.
 */
const LONGEST_CALL_MS = 180_000;

const failed = (what: string) => (error: Error) => [`${what}: ${error.message}`];
const none = () => [] as string[];

export async function judge(
  deployment: Deployment,
  callers: Callers,
  ledger: Ledger,
  harm: Harm,
): Promise<string[]> {
  const { visits } = callers;
  return [
    ...harm.violations,
    ...(await quiet(deployment).then(none, failed('not at rest'))),
    ...(await settled(deployment).then(none, failed('not settled'))),
    ...(await ledger.caughtUp().then(none, failed('the ledger'))),
    ...ledger.wrong(),
    ...unfair(visits),
    ...callers.wrongTexts,
    ...visits
      .filter(({ ms }) => ms > LONGEST_CALL_MS)
      .map(
        ({ ms, end, why }) => `a call took ${Math.round(ms / 1000)} s and ended with ${end} ${why}`,
      ),
    ...callers.accounts.flatMap(({ account, cap }) =>
      overCap(account.name, deployment.probePages.most(account.id), cap),
    ),
    ...(
      await Promise.all(
        callers.accounts.map(each =>
          miscounted(each.account.id, visits, harm, ledger, each.account.usage),
        ),
      )
    ).flat(),
    ...deployment.apis
      .concat(deployment.workers as never)
      .flatMap(({ process }) => forbiddenLines(process)),
  ];
}

/** Renders whose settlement got no response in time are settled by now. */
const settled = (deployment: Deployment) =>
  eventually(async () => {
    for (const { process } of deployment.apis) {
      const waiting = (await process.metrics()).sum('pressroom_lease_writes_waiting');
      if (waiting > 0) throw new Error(`${waiting} writes wait in ${process.name}`);
    }
  });

const unfair = (visits: Visit[]) =>
  visits
    .filter(({ end, why }) => !FAIR[end]?.has(why))
    .map(({ end, why, account }) => `a caller of ${account.name} got ${end} ${why}`);

const overCap = (name: string, most: number, cap: number) =>
  most > cap ? [`${name} had ${most} pages alive on a plan of ${cap}`] : [];

/**
 * The count is between the PDFs that callers surely got and those that they may have got, and each
 * step belongs to one lease.
 */
async function miscounted(
  id: string,
  visits: Visit[],
  harm: Harm,
  ledger: Ledger,
  usage: () => Promise<number>,
): Promise<string[]> {
  const count = await usage();
  const own = visits.filter(({ account }) => account.id === id);
  const given = own.flatMap(each => (each.usage === undefined ? [] : [each.usage]));
  // A pending count of a killed process is lost by design, in favor of the customer.
  const sure = own.filter(
    ({ end, usage, pid }) => end === 200 && (usage !== undefined || !harm.killed.has(pid)),
  ).length;
  const possible = own.filter(
    ({ end }) => end === 200 || end === 'left' || end === 'broken',
  ).length;
  const steps = ledger.counted(id).map(each => each.count);
  return [
    count < sure ? `${id}: ${count} are counted of ${sure} that were delivered` : '',
    count > possible
      ? `${id}: ${count} are counted, but no more than ${possible} can have been delivered`
      : '',
    new Set(given).size < given.length ? `${id}: two renders were given the same count` : '',
    Math.max(0, ...given) > count
      ? `${id}: the count ${Math.max(0, ...given)} was given, but ${count} is there`
      : '',
    steps.some((step, index) => step !== index + 1) || steps.length !== count
      ? `${id}: the steps to ${count} are ${steps}`
      : '',
  ].filter(Boolean);
}

/** Log lines that no process may write. */
const forbiddenLines = ({ name, log }: Deployment['apis'][number]['process']) =>
  log
    .filter(
      ({ level, msg }) =>
        String(level) === 'fatal' || (level === 0 && !/Warning|--trace-warnings/.test(msg)),
    )
    .map(({ msg }) => `${name} logged: ${msg}`);
