// The statuses of every job in their order, by MongoDB's change stream, and what must hold when all
// jobs have ended. Independent of Pressroom, except for its table of transitions.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { ChangeStreamDocument, Document, Filter } from 'mongodb';
import { isFinalStatus, statusesBefore } from '../../../api/jobs/job-status.ts';
import type { JobDocument, JobStatus, OutboxDocument } from '../../../api/store/store.ts';
import { eventually } from '../../support/eventually.ts';
import type { Deployment } from './deployment.ts';
import { type Ledger, openLedger } from './ledger.ts';

export interface JobLedger {
  /** In their order; empty for an unknown job. */
  statuses(job: string): JobStatus[];
  /**
   * Resolves when every job has ended once, is counted once if it succeeded, and holds nothing.
   * `submitted`: with the ID of each whose submission was answered. Returns the jobs by their IDs,
   * in their order.
   */
  allEnded(
    submitted: readonly { job: string | undefined }[],
    withinMs: number,
  ): Promise<Map<string, JobDocument>>;
  /** Resolves when no job that is in its second attempt, or a later one, is open. */
  untilRetriedEnd(withinMs: number): Promise<void>;
  close(): Promise<void>;
}

const unfinished: JobStatus[] = ['queued', 'running'];
const withoutContents = { projection: { 'request.inline': 0, 'pdf.inline': 0 } };
const POLL_MS = 250;

/** Records all writes from now on. */
export async function openJobLedger(deployment: Deployment): Promise<JobLedger> {
  const db = deployment.cluster.client.db('pressroom');
  const jobs = db.collection<JobDocument>('jobs');
  const leases: Ledger = await openLedger(deployment.cluster);
  const { operationTime: startAtOperationTime } = await db.command({ ping: 1 });
  const histories = new Map<string, JobStatus[]>();
  const problems: string[] = [];

  function read(change: ChangeStreamDocument<Document>): void {
    if (change.operationType !== 'insert' && change.operationType !== 'update') return;
    const id = String(change.documentKey._id);
    const to: JobStatus | undefined =
      change.operationType === 'insert'
        ? change.fullDocument['status']
        : change.updateDescription.updatedFields?.['status'];
    if (to === undefined) return;
    const history = histories.get(id) ?? [];
    histories.set(id, history);
    const from = history.at(-1);
    if (from === undefined ? to !== 'queued' : !statusesBefore(to).includes(from))
      problems.push(`${id} changed from ${from} to ${to}`);
    history.push(to);
  }
  const stream = jobs.watch([], { startAtOperationTime });
  stream.on('change', read).on('error', error => problems.push(`the stream broke: ${error}`));

  async function accountIsRight(account: Deployment['accounts'][number]): Promise<void> {
    const own = await jobs.find({ account: account.id }, withoutContents).toArray();
    if (own.length === 0) return; // it only renders synchronously
    const counted = own.filter(({ status, sandbox }) => status === 'succeeded' && !sandbox);
    expect(await account.usage(), `usage of ${account.name}`).to.equal(counted.length);
    const usages = counted.map(({ usage }) => usage).sort((a, b) => a! - b!);
    expect(usages).to.deep.equal(counted.map((_, index) => index + 1));
    expect(leases.counted(account.id).map(({ count }) => count)).to.deep.equal(usages);
    await eventually(async () => expect(await account.leases(), account.name).to.equal(0));
  }

  /** Each chunk is part of a PDF, or expires with its job. */
  async function chunksAreRight(ended: ReadonlyMap<string, JobDocument>): Promise<void> {
    const chunks = db.collection('documents.chunks');
    const found = chunks.find({}, { projection: { files_id: 1, expiresAt: 1 } });
    for await (const { files_id: file, expiresAt } of found) {
      const job = ended.get(file.split('/')[0]);
      if (job?.pdf?.file !== file) expect(expiresAt, file).to.be.an.instanceOf(Date);
    }
    for (const { pdf } of ended.values())
      if (pdf?.file !== undefined)
        expect(await chunks.countDocuments({ files_id: pdf.file }), pdf.file).to.be.greaterThan(0);
  }

  async function untilNoneIsOpen(deadlineMs: number, which: Filter<JobDocument> = {}) {
    const open = { ...which, status: { $in: unfinished } };
    while ((await jobs.countDocuments(open)) > 0) {
      if (performance.now() > deadlineMs) {
        const left = await jobs.find(open, withoutContents).toArray();
        throw new Error(`${left.length} jobs have not ended: ${JSON.stringify(left.slice(0, 5))}`);
      }
      await sleep(POLL_MS);
    }
  }

  async function allEnded(submitted: readonly { job: string | undefined }[], withinMs: number) {
    await untilNoneIsOpen(performance.now() + withinMs);
    const found = await jobs.find({}, withoutContents).sort({ _id: 1 }).toArray();
    const ended = new Map(found.map(job => [job._id, job]));
    const accepted = submitted.flatMap(({ job }) => job ?? []);
    expect([...ended.keys()]).to.include.members(accepted);
    const outbox = await db.collection<OutboxDocument>('outbox').find().toArray();
    expect(outbox.map(({ _id, status }) => `${_id} ${status}`).sort()).to.deep.equal(
      [...ended.values()].map(({ _id, status }) => `${_id} ${status}`).sort(),
    );
    await eventually(() => {
      for (const { _id, status } of ended.values())
        expect(histories.get(_id)?.at(-1), _id).to.equal(status);
    });
    for (const { _id, lease, request } of ended.values())
      expect({ lease, request }, _id).to.deep.equal({ lease: undefined, request: undefined });
    await leases.caughtUp();
    expect([...problems, ...leases.wrong()]).to.deep.equal([]);
    for (const history of histories.values())
      expect(history.filter(isFinalStatus), history.join()).to.have.length(1);
    for (const account of deployment.accounts) await accountIsRight(account);
    await chunksAreRight(ended);
    return ended;
  }

  return {
    statuses: job => [...(histories.get(job) ?? [])],
    allEnded,
    untilRetriedEnd: withinMs =>
      untilNoneIsOpen(performance.now() + withinMs, { 'attemptLog.1': { $exists: true } }),
    close: async () => {
      await stream.close();
      await leases.close();
    },
  };
}
