// The log of the attempts of a job, by the writes that begin and end them.
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { attemptHistory } from '../../../api/jobs/attempt-log.ts';
import { type JobEnd, JobOperations, type Requeue } from '../../../api/jobs/job-operations.ts';
import { connectStore, type Store } from '../../../api/store/store.ts';
import { silentLog } from '../../../common/log.ts';
import { testDatabase } from '../../support/servers/mongod.ts';
import { storedJob } from '../../support/stored-job.ts';

const LOST = { code: 'render_failed', reason: 'worker_lost' } as const;

describe('the log of the attempts of a job', () => {
  let store: Store;
  let operations: JobOperations;

  before(async () => {
    store = connectStore({ uri: (await testDatabase()).uri, operationTimeoutMs: 5_000 }, silentLog);
    await store.start();
    operations = new JobOperations(store);
  });
  after(() => store.stop(AbortSignal.any([])));

  /** A job that waits. */
  async function waiting(over: object = {}) {
    const account = randomUUID();
    const { _id } = await storedJob(store, 'a secret', account, over);
    const attempt = async () => {
      const lease = randomUUID();
      await store.asynchronous.jobs.updateOne({ _id }, { $set: { availableAt: new Date(0) } });
      const claimed = await operations.claim(account, lease);
      expect(claimed).to.include({ _id, lease });
      return {
        claimed: claimed!,
        requeue: (how: Requeue) => operations.requeue({ _id, account, lease }, how),
        end: (end: JobEnd) => operations.endAlone({ _id, account, lease }, end),
      };
    };
    const job = async () => (await store.asynchronous.jobs.findOne({ _id }))!;
    const outcomes = async () => attemptHistory(await job()).map(({ outcome }) => outcome);
    return { _id, account, attempt, job, outcomes };
  }

  it('has when each attempt began and ended, and why', async () => {
    const { attempt, job, outcomes } = await waiting();
    expect(await job()).not.to.have.property('attemptLog');
    const first = await attempt();
    expect(first.claimed.attemptLog).to.have.length(1);
    expect(await outcomes()).to.deep.equal(['running']);
    await first.requeue({ delayMs: 1, error: LOST });
    await (await attempt()).requeue({});
    const last = await attempt();
    await last.end({
      status: 'failed',
      error: { ...LOST, message: '$lost' },
      lastInterrupted: true,
    });
    const { attemptLog, endedAt } = await job();
    expect(attemptLog![0]).to.deep.include({ error: LOST });
    expect(attemptLog![1]).to.have.keys('startedAt', 'endedAt');
    expect(attemptLog![2]).to.have.keys('startedAt');
    const times = attemptLog!.flatMap(each => [each.startedAt, each.endedAt ?? endedAt!]);
    const sorted = times.map(time => time.getTime()).sort((a, b) => a - b);
    expect(times.map(time => time.getTime())).to.deep.equal(sorted);
    expect(await outcomes()).to.deep.equal(['failed', 'interrupted', 'interrupted']);
  });

  it('does not have an attempt that does not count, and keeps those before it', async () => {
    const { attempt, outcomes } = await waiting();
    await (await attempt()).requeue({ uncounted: true });
    expect(await outcomes()).to.deep.equal([]);
    await (await attempt()).requeue({});
    for (let times = 0; times < 5; times++) await (await attempt()).requeue({ uncounted: true });
    expect(await outcomes()).to.deep.equal(['interrupted']);
    await (await attempt()).end({ status: 'canceled' });
    expect(await outcomes()).to.deep.equal(['interrupted', 'canceled']);
  });

  it('is not changed by an attempt that has ended', async () => {
    const { attempt, job } = await waiting();
    const former = await attempt();
    await former.requeue({});
    await attempt();
    const before = await job();
    await former.requeue({ error: LOST });
    await former.requeue({ uncounted: true });
    expect(await former.end({ status: 'canceled' })).to.equal(false);
    expect(await job()).to.deep.equal(before);
  });

  it('begins for a job that runs and was stored without one', async () => {
    const { attempt, outcomes, _id, account } = await waiting({ status: 'running', lease: 'old' });
    await operations.requeue({ _id, account, lease: 'old' }, { error: LOST });
    expect(await outcomes()).to.deep.equal([]);
    await (await attempt()).requeue({});
    expect(await outcomes()).to.deep.equal(['interrupted']);
  });
});
