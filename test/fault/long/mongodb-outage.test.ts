// @proves database
// MongoDB is killed or frozen for a minute under load: calls are rejected fast with a clear error,
// running renders finish, the count stays exact, and the service recovers at once.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { httpCall } from '../../support/http-call.ts';
import type { Member } from '../harness/cluster.ts';
import {
  type ApiReplica,
  type Deployment,
  type DeploymentAccount,
  startDeployment,
} from '../harness/deployment.ts';
import {
  type PatientCallers,
  startPatientCallers,
  type Visit,
  visit,
} from '../harness/patient-callers.ts';
import type { PressroomProcess } from '../harness/pressroom-process.ts';
import { quiet } from '../harness/quiet.ts';

const OUTAGE_MS = 60_000;
/** The time limit of a database operation; see OPERATION_TIMEOUT_MS. */
const OPERATION_MS = 5_000;
/** Tolerance for a busy machine. */
const MARGIN_MS = 10_000;

const GONE = 'MongoDB has no reachable primary';
const BACK = 'MongoDB has a primary again';

const ways: Record<
  string,
  { problem: RegExp; down(member: Member): Promise<void>; up(member: Member): Promise<void> | void }
> = {
  killed: {
    problem: /ECONNREFUSED|closed|ECONNRESET/,
    down: member => member.kill(),
    up: member => member.start(),
  },
  frozen: {
    problem: /timed out|has not responded/,
    down: member => member.freeze(),
    up: member => member.thaw(),
  },
};

describe('a MongoDB outage of one minute under load', function () {
  this.timeout(300_000);
  let deployment: Deployment;
  let account: DeploymentAccount;
  let callers: PatientCallers | undefined;

  beforeEach(async () => {
    deployment = await startDeployment({ slots: 4, api: { PRESSROOM_PLANS: 'scale=16' } });
    account = await deployment.account();
  });
  afterEach(async () => {
    await callers?.stop();
    await deployment?.stop();
  });

  /** Renders that run until released; one at each API process, each of another account. */
  async function running(): Promise<{ accounts: DeploymentAccount[]; ends: Promise<Visit>[] }> {
    const accounts = await Promise.all(deployment.apis.map(() => deployment.account()));
    const ends = accounts.map((each, index) =>
      visit(deployment, each, deployment.probePages.page(each.id, 'page'), deployment.apis[index]!),
    );
    await Promise.all(accounts.map(each => deployment.probePages.until(each.id, 1)));
    return { accounts, ends };
  }

  /** Resolves when each process has logged that it rejects calls at once. */
  const known = () =>
    Promise.all(
      deployment.apis.map(({ process }) =>
        process.logLine(GONE, line => line['calls'] === 'are rejected'),
      ),
    );
  const total = async (name: string, labels?: Record<string, string>) => {
    const samples = await Promise.all(deployment.apis.map(({ process }) => process.metrics()));
    return samples.reduce((sum, each) => sum + each.sum(name, labels), 0);
  };
  const health = async ({ port, process }: ApiReplica) => ({
    livez: await process.probe('/livez'),
    readyz: await process.probe('/readyz'),
    healthz: (await httpCall(port, 'GET', '/healthz')).status,
    report: JSON.parse((await httpCall(port, 'GET', '/readyz')).body.toString()),
  });
  const memory = () =>
    Promise.all(deployment.apis.map(async ({ process }) => (await process.memory()).nowBytes));

  for (const [what, { problem, down, up }] of Object.entries(ways)) {
    it(`causes fast errors and no wrong count when MongoDB is ${what}`, async () => {
      const [member] = deployment.cluster.members;
      callers = startPatientCallers(deployment, account, 4);
      await callers.next(({ status }) => status === 200);
      const [brief, long] = [await running(), await running()];
      const small = await deployment.account('free');
      expect(
        (await visit(deployment, small, { html: '<p>x</p>' }, deployment.apis[0]!)).status,
      ).to.equal(200);
      const before = await memory();

      await down(member!);
      const goneMs = performance.now();
      const unanswered = visit(deployment, small, { html: '<p>x</p>' }, deployment.apis[0]!);
      for (const { id } of brief.accounts) deployment.probePages.release(id);
      for (const end of await Promise.all(brief.ends))
        expect([end.status, end.usage]).to.deep.equal([200, undefined]);
      for (const end of await Promise.all(long.ends)) {
        expect([end.status, end.why, end.retryAfterS]).to.deep.equal([
          502,
          'render_failed/database',
          1,
        ]);
        expect(performance.now() - goneMs).to.be.lessThan(15_000 + MARGIN_MS);
      }
      for (const { id } of long.accounts) expect(deployment.probePages.alive(id)).to.equal(0);

      for (const line of await known())
        expect(line['members']).to.have.property(`127.0.0.1:${member!.port}`).that.matches(problem);
      const knownMs = performance.now();
      for (const api of deployment.apis) {
        const { report, ...probes } = await health(api);
        expect(probes).to.deep.equal({ livez: 200, readyz: 200, healthz: 200 });
        expect(report).to.deep.include({ status: 'unavailable' });
        expect(report.checks.database).to.deep.equal({ status: 'unavailable' });
        expect(report.checks.workers.slots).to.equal(8);
      }
      await sleep(Math.max(0, goneMs + OUTAGE_MS - performance.now()));
      const after = await memory();
      const backMs = performance.now();
      await up(member!);
      for (const { process } of deployment.apis)
        expect((await process.logLine(BACK))['missingMs']).to.be.greaterThan(OUTAGE_MS / 2);

      // A server that was frozen executes its queued commands now: such a lease would hold the only
      // slot of the small account for 15 s.
      expect((await unanswered).why).to.equal('render_failed/database');
      await eventually(async () => expect(await small.leases()).to.equal(0));
      const firsts = await Promise.all(
        deployment.apis.flatMap(api =>
          [1, 2, 3].map(() => visit(deployment, account, { html: '<p>x</p>' }, api)),
        ),
      );
      await callers.stop();
      const ends = [...callers.visits, ...firsts];
      expect(firsts.map(({ status, why }) => why ?? status)).to.deep.equal(firsts.map(() => 200));

      const failed = ends.filter(({ status }) => status !== 200);
      const answers = new Set(
        failed.map(({ status, why, retryAfterS }) => `${status} ${why} ${retryAfterS}`),
      );
      expect([...answers]).to.deep.equal(['502 render_failed/database 1']);
      expect(Math.max(...failed.map(({ ms }) => ms))).to.be.lessThan(OPERATION_MS + MARGIN_MS);
      const late = failed
        .filter(({ startMs }) => startMs > knownMs && startMs < backMs)
        .map(({ ms }) => ms);
      expect(late.length).to.be.greaterThan(20);
      expect(median(late)).to.be.lessThan(OPERATION_MS / 5);
      for (const [index, bytes] of after.entries())
        expect(bytes - before[index]!).to.be.lessThan(64 * 2 ** 20);

      const delivered = ends.filter(({ status }) => status === 200).length;
      const all = delivered + brief.accounts.length + 1;
      await eventually(async () =>
        expect(await total('pressroom_lease_writes_waiting')).to.equal(0),
      );
      expect(await account.usage()).to.equal(delivered);
      for (const { usage } of brief.accounts) expect(await usage()).to.equal(1);
      for (const { usage } of long.accounts) expect(await usage()).to.equal(0);
      expect(await total('pressroom_renders_total', { outcome: 'ok' })).to.equal(all);
      expect(await total('pressroom_renders_settled_total')).to.equal(all);
      expect(await total('pressroom_renders_uncounted_total')).to.equal(0);
      expect(await total('pressroom_leases_lost_total')).to.be.at.least(long.accounts.length);
      for (const { process } of deployment.apis) expectReadable(process, ends.length);
      await quiet(deployment);
    });
  }
});

const median = (numbers: number[]) =>
  numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)]!;

/** The logs: one line for each call, a few about the database, and no unexpected error. */
function expectReadable({ log }: PressroomProcess, calls: number): void {
  const others = log.filter(({ msg }) => msg !== 'request');
  expect(log.length).to.be.lessThan(2 * calls + 100);
  expect(others.filter(({ msg }) => msg === GONE).length).to.be.within(4, 12);
  for (const unwanted of ['unexpected error', 'a lease could not be released and will expire'])
    expect(others.filter(({ msg }) => msg === unwanted)).to.deep.equal([]);
}
