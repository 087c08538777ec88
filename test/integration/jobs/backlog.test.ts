import { expect } from 'chai';
import {
  type BacklogRules,
  headsPipeline,
  MAX_WAITING_COUNTED,
  readBacklog,
} from '../../../api/jobs/job-backlog.ts';
import { createJobId } from '../../../api/jobs/job-id.ts';
import { JobOperations } from '../../../api/jobs/job-operations.ts';
import type { JobDocument } from '../../../api/store/store.ts';
import { type LeaseFixture, leaseFixture, plans } from '../../support/lease-fixture.ts';

const RULES: BacklogRules = { plans, pastDueGraceMs: 60_000, billing: 'manual' };
const HOUR_MS = 3_600_000;

describe('backlog of asynchronous renders', () => {
  let fixture: LeaseFixture;
  before(async () => {
    fixture = await leaseFixture();
  });
  beforeEach(() => fixture.store.asynchronous.jobs.deleteMany({}));
  afterEach(() => fixture.reset());
  after(() => fixture?.close());

  async function enqueue(account: string, count: number, fields: Partial<JobDocument> = {}) {
    const createdAt = new Date(Date.now() - 60_000);
    const documents = Array.from({ length: count }, () => ({
      _id: createJobId(),
      account,
      status: 'queued' as const,
      key: 'key_1',
      createdAt,
      expiresAt: new Date(Date.now() + HOUR_MS),
      keptUntil: new Date(Date.now() + 2 * HOUR_MS),
      availableAt: new Date(0),
      sandbox: false,
      requestBytes: 2,
      ...fields,
    }));
    await fixture.store.asynchronous.jobs.insertMany(documents, { ordered: false });
  }
  const backlog = async () => {
    const accounts = await new JobOperations(fixture.store).accountsWithQueued();
    return readBacklog(fixture.store, RULES, accounts);
  };

  /** Milliseconds of the fastest of ten reads. */
  async function fastestMs(read: () => Promise<unknown>): Promise<number> {
    let fastest = Number.POSITIVE_INFINITY;
    for (let run = 0; run < 10; run++) {
      const begunMs = performance.now();
      await read();
      fastest = Math.min(fastest, performance.now() - begunMs);
    }
    return fastest;
  }

  it('is for each account at most its free asynchronous renders', async () => {
    const starter = await fixture.account('starter');
    await enqueue(starter.id, 1_000);
    const one = await backlog();
    expect(one).to.include({ runnable: 1, waiting: 1_000 });
    expect(one.oldestWaitMs).to.be.within(59_000, 120_000);
    await enqueue((await fixture.account('scale')).id, 5);
    expect(await backlog()).to.include({ runnable: 6, waiting: 1_005 });
  });

  it('shrinks with the leases that the account holds', async () => {
    const growth = await fixture.account('growth');
    await enqueue(growth.id, 10);
    const leases = await fixture.replica();
    const submitted = { accountId: growth.id, requestId: 'request' };
    expect(await backlog()).to.include({ runnable: 3 });
    await leases.admit(growth.caller);
    expect(await backlog()).to.include({ runnable: 3 });
    await leases.admit(growth.caller);
    expect(await backlog()).to.include({ runnable: 2 });
    await leases.admitSubmitted(submitted);
    await leases.admitSubmitted(submitted);
    expect(await backlog()).to.include({ runnable: 0, waiting: 10, oldestWaitMs: 0 });
  });

  it('ignores accounts that are not served, and jobs that may not start yet', async () => {
    const unpaid = await fixture.account('growth', { state: 'canceled' });
    await enqueue(unpaid.id, 10);
    const growth = await fixture.account('growth');
    await enqueue(growth.id, 2, { availableAt: new Date(Date.now() + HOUR_MS) });
    expect(await backlog()).to.deep.equal({ runnable: 0, waiting: 12, oldestWaitMs: 0 });
  });

  it('is zero without jobs', async () => {
    expect(await backlog()).to.deep.equal({ runnable: 0, waiting: 0, oldestWaitMs: 0 });
  });

  it('is the same for 50,000 waiting jobs as for 10, without reading them', async function () {
    this.timeout(60_000);
    const scale = await fixture.account('scale');
    await enqueue(scale.id, 10);
    expect(await backlog()).to.include({ runnable: 7, waiting: 10 });
    for (let batch = 0; batch < 10; batch++) await enqueue(scale.id, 5_000);
    expect(await backlog()).to.include({ runnable: 7, waiting: MAX_WAITING_COUNTED });
    expect(await fixture.store.asynchronous.jobs.estimatedDocumentCount()).to.equal(50_010);
    // It takes about 1 ms, and 35 ms to read the index of all waiting jobs.
    const { accounts, limits } = fixture.store;
    const heads = headsPipeline([scale.id], 8);
    const ms = await fastestMs(() => accounts.aggregate(heads, limits).toArray());
    expect(ms).to.be.lessThan(15);
  });
});
