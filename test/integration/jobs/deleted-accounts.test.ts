import { expect } from 'chai';
import { JobOperations } from '../../../api/jobs/job-operations.ts';
import { JobRunner, type RunnerDeps } from '../../../api/jobs/job-runner.ts';
import { eventually } from '../../support/eventually.ts';
import { type LeaseFixture, leaseFixture } from '../../support/lease-fixture.ts';
import { storedJob } from '../../support/stored-job.ts';

const SECRET = 'a secret of these tests';

describe('the runner of jobs', () => {
  let fixture: LeaseFixture;
  before(async () => {
    fixture = await leaseFixture();
  });
  afterEach(() => fixture.reset());
  after(() => fixture?.close());

  it('asks for no lease of a deleted account after its jobs are deleted', async () => {
    const { store, log } = fixture;
    const { jobs } = store.asynchronous;
    const leases = await fixture.replica();
    const asked: string[] = [];
    const polls: string[][] = [];
    let nowMs = 0;
    const deps: Partial<Record<keyof RunnerDeps, unknown>> = {
      operations: new JobOperations(store),
      leases: {
        admitSubmitted: (render: Parameters<typeof leases.admitSubmitted>[0]) => {
          asked.push(render.accountId);
          return leases.admitSubmitted(render);
        },
      },
      workers: { capacity: () => ({ free: 2 }), onChange: () => {} },
      dispatcher: { paidWaiting: () => 0 },
      backlog: { found: async (accounts: string[]) => void polls.push(accounts) },
      log,
    };
    const runner = new JobRunner(deps as unknown as RunnerDeps, () => nowMs);
    await storedJob(store, SECRET, 'deleted');
    await runner.start();
    await eventually(() => expect(asked).to.deep.equal(['deleted']));
    await jobs.deleteMany({ account: 'deleted' });
    const before = polls.length;
    await eventually(() => expect(polls.slice(before).filter(each => !each[0]).length).to.equal(2));
    nowMs += 3600e3;
    runner.submitted('other');
    await eventually(() => expect(asked).to.include('other'));
    await runner.stop(AbortSignal.timeout(10_000));
    expect(asked).to.deep.equal(['deleted', 'other']);
  });
});
