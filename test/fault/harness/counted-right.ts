// Checks the usage count of an account against the responses of the callers, the database, its
// change stream, and the metrics.
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import type { Customers, Visit } from './customers.ts';
import type { ApiReplica, Deployment, DeploymentAccount } from './deployment.ts';
import type { Ledger } from './ledger.ts';
import { quiet } from './quiet.ts';

const sum = (numbers: number[]) => numbers.reduce((total, each) => total + each, 0);

/** Resolves when no render runs and no write is pending. */
async function atRest(deployment: Deployment): Promise<void> {
  await quiet(deployment);
  // A settlement without a response in time holds no unexpired lease.
  await eventually(async () => {
    for (const { process } of deployment.apis) {
      const waiting = (await process.metrics()).sum('pressroom_lease_writes_waiting');
      expect(waiting, `writes that wait in ${process.name}`).to.equal(0);
    }
  });
}

/**
 * Call it when all calls have ended. `killed`: a process that could not finish its renders; those
 * without a count in the response, or without a response, may be counted or not. Returns the number
 * of counted renders.
 */
export async function countedRight(
  deployment: Deployment,
  customers: Customers,
  ledger: Ledger,
  visits: readonly Visit[],
  killed?: ApiReplica,
): Promise<number> {
  await atRest(deployment);
  await ledger.caughtUp();
  expect(ledger.wrong()).to.deep.equal([]);

  async function countOf(account: DeploymentAccount): Promise<number> {
    const count = await account.usage();
    // By the change stream: each count once, in order, with its lease.
    const paid = ledger.counted(account.id).map(each => each.count);
    expect(paid).to.deep.equal(Array.from({ length: count }, (_, index) => index + 1));
    // By the callers: each got a different count, and each of these exists.
    const given = visits.flatMap(visit =>
      visit.account === account && visit.usage !== undefined ? [visit.usage] : [],
    );
    expect(new Set(given).size).to.equal(given.length);
    expect(Math.max(0, ...given)).to.be.at.most(count);
    return count;
  }

  const surely = ({ end, usage, api }: Visit) =>
    end === 200 && (usage !== undefined || api !== killed);
  const perhaps = ({ end, manner, api }: Visit) =>
    (end === 'left' && manner === 'wavers') ||
    (api === killed && (end === 200 || end === 'broken'));
  async function accountIsRight(account: DeploymentAccount): Promise<number> {
    const own = visits.filter(visit => visit.account === account);
    const least = own.filter(surely).length;
    const count = await countOf(account);
    expect(count, account.name).to.be.within(
      least,
      least + own.filter(visit => !surely(visit) && perhaps(visit)).length,
    );
    return count;
  }

  expect(await countOf(customers.failing), 'failed renders that were counted').to.equal(0);
  expect(await countOf(customers.vanishing), 'abandoned renders that were counted').to.equal(0);
  return (await accountIsRight(customers.steady)) + (await accountIsRight(customers.wavering));
}

/** Outcomes caused by the page of a started render. Other failures may occur before a render. */
const PAGE_FAULTS = ['page_status', 'page_unreachable', 'page_crash'];

/**
 * The metrics of processes that ran all the time agree with the callers and with the database,
 * which counted `total` renders.
 */
export async function metricsAgree(
  deployment: Deployment,
  visits: readonly Visit[],
  total: number,
): Promise<void> {
  const samples = await Promise.all(deployment.apis.map(({ process }) => process.metrics()));
  const metric = (name: string, labels?: Record<string, string>) =>
    sum(samples.map(each => each.sum(name, labels)));
  expect(metric('pressroom_renders_total', { outcome: 'ok' })).to.equal(total);
  expect(metric('pressroom_renders_settled_total')).to.equal(total);
  expect(metric('pressroom_renders_uncounted_total')).to.equal(0);
  for (const outcome of PAGE_FAULTS)
    expect(metric('pressroom_renders_total', { outcome }), outcome).to.equal(
      visits.filter(visit => visit.outcome === outcome).length,
    );
  const gone = visits.filter(({ end }) => end === 'left').length;
  expect(metric('pressroom_renders_total', { outcome: 'client_closed' })).to.be.at.most(gone);
}
