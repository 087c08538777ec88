// @proves queue-bounds, trial

import { expect } from 'chai';
import fc from 'fast-check';
import { FairQueue, type QueueEntry } from '../../../../api/queue/fair-queue.ts';
import {
  add,
  type Job,
  type JobQueue,
  job,
  largeLimits,
  take,
} from '../../../support/queue-jobs.ts';

const idsTaken = (queue: JobQueue) => {
  const ids: number[] = [];
  for (let entry = take(queue); entry; entry = take(queue)) {
    ids.push(entry.job.id);
    queue.remove(entry);
    queue.release(entry, 0);
  }
  return ids;
};

/** What callers may do, as data: which account or which of the entries they hold. */
const action = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('add' as const),
      account: fc.integer({ min: 0, max: 4 }),
      trial: fc.boolean(),
      bytes: fc.integer({ min: 0, max: 40 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('take' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'putBack' as const,
        'leave' as const,
        'serve' as const,
        'rejoin' as const,
      ),
      nth: fc.nat(),
    }),
  },
);

/** An account has a quarter, and more while a quarter stays free. */
function rejectionOf(max: number, own: number, all: number, more: number): string | undefined {
  if (all + more > max) return 'full';
  return own + more > max / 4 && all + more > (max * 3) / 4 ? 'share' : undefined;
}

describe('the queue', () => {
  it('loses no job, serves none twice and keeps its bounds, whatever callers do', () => {
    const bounds = { maxLength: 12, maxBytes: 200 };
    fc.assert(
      fc.property(fc.array(action, { maxLength: 120 }), actions => {
        const queue = new FairQueue<Job>(bounds);
        const there = new Set<QueueEntry<Job>>();
        const taken = new Set<QueueEntry<Job>>();
        const gone = new Set<QueueEntry<Job>>();
        const nth = (entries: Set<QueueEntry<Job>>, n: number) => [...entries][n % entries.size];
        let rejoined = 0;
        actions.forEach((each, id) => {
          if (each.do === 'add') {
            const bytesBefore = queue.bytes();
            const accountId = `account ${each.account}`;
            const own = [...there].map(({ job }) => job).filter(job => job.accountId === accountId);
            const rejection =
              rejectionOf(bounds.maxLength, own.length, there.size, 1) ??
              rejectionOf(
                bounds.maxBytes,
                own.reduce((sum, { bytes }) => sum + bytes, 0),
                bytesBefore,
                each.bytes,
              );
            const entry = queue.add(job(accountId, id, each), id);
            expect(typeof entry === 'string' ? entry : undefined).to.equal(rejection);
            if (typeof entry !== 'string') there.add(entry);
          } else if (each.do === 'take') {
            const waiting = [...there].filter(entry => !taken.has(entry));
            const next = queue.next(0, { free: 100, slots: 100 });
            const entry = take(queue);
            expect(next?.entry).to.equal(entry);
            if (waiting.length === 0) expect(entry).to.equal(undefined);
            else {
              expect(waiting).to.include(entry);
              if (entry!.job.trial) expect(waiting.every(other => other.job.trial)).to.equal(true);
              taken.add(entry!);
            }
          } else {
            const entry = nth(
              each.do === 'leave' ? there : each.do === 'rejoin' ? gone : taken,
              each.nth,
            );
            if (!entry) return;
            if (each.do === 'putBack') {
              queue.undoTake(entry, 0);
              taken.delete(entry);
            } else if (each.do === 'rejoin') {
              if (entry.turn === 0) return; // it was never served
              queue.reenqueue(entry, id);
              gone.delete(entry);
              there.add(entry);
              rejoined++;
            } else {
              queue.remove(entry);
              taken.delete(entry);
              there.delete(entry);
              gone.add(entry);
            }
          }
          expect(queue.depth()).to.equal(there.size);
          expect(queue.bytes()).to.equal(
            [...there].reduce((sum, entry) => sum + entry.job.bytes, 0),
          );
          expect(queue.depth()).to.be.at.most(bounds.maxLength + rejoined);
        });
        for (const entry of taken) queue.undoTake(entry, 0);
        const left = idsTaken(queue);
        expect(left).to.have.members([...there].map(entry => entry.job.id));
        expect(queue.bytes()).to.equal(0);
        expect([...queue.entries()]).to.deep.equal([]);
      }),
      { numRuns: 300 },
    );
  });

  it('serves the jobs of an account in order of arrival, although some are reenqueued and some removed', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.tuple(fc.integer({ min: 0, max: 3 }), fc.constantFrom('serve', 'put back', 'abort')),
          { maxLength: 60 },
        ),
        script => {
          const queue = new FairQueue<Job>(largeLimits);
          const entries = script.map(([account], id) =>
            add(queue, job(`account ${account}`, id), id),
          );
          const abortAndTake = script.flatMap(([, act], id) => {
            if (act === 'abort') queue.remove(entries[id]!);
            const entry = act === 'put back' ? take(queue) : undefined;
            return entry ? [entry] : [];
          });
          for (const entry of abortAndTake.reverse()) queue.undoTake(entry, 0);
          const served = idsTaken(queue);
          for (let account = 0; account < 4; account++) {
            const own = served.filter(id => script[id]![0] === account);
            expect(own).to.deep.equal(own.toSorted((a, b) => a - b));
          }
        },
      ),
    );
  });

  it('serves a new account within one round, however many jobs the others have queued', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 80 }),
        fc.nat({ max: 30 }),
        (flood, served) => {
          const queue = new FairQueue<Job>(largeLimits);
          flood.forEach((account, id) => {
            queue.add(job(`account ${account}`, id), id);
          });
          for (let i = 0; i < served; i++) {
            const entry = take(queue);
            if (entry) queue.remove(entry);
          }
          const others = new Set([...queue.entries()].map(entry => entry.job.accountId)).size;
          queue.add(job('new', -1), 1_000);
          expect(idsTaken(queue).indexOf(-1)).to.be.at.most(others);
        },
      ),
    );
  });

  it('serves accounts equally while all have jobs queued', () => {
    const queue = new FairQueue<Job>(largeLimits);
    for (let id = 0; id < 6; id++) queue.add(job('a', id), 0);
    for (let id = 10; id < 13; id++) queue.add(job('b', id), 0);
    queue.add(job('c', 20), 0);
    expect(idsTaken(queue)).to.deep.equal([0, 10, 20, 1, 11, 2, 12, 3, 4, 5]);
  });

  it('reenqueues a job at its former position, whichever of two returns first', () => {
    for (const order of [
      [0, 1],
      [1, 0],
    ]) {
      const queue = new FairQueue<Job>(largeLimits);
      for (const [id, account] of ['a', 'b', 'a', 'b', 'c'].entries())
        queue.add(job(account, id), 0);
      const taken = [take(queue)!, take(queue)!];
      for (const index of order) queue.undoTake(taken[index]!, 0);
      expect(idsTaken(queue)).to.deep.equal([0, 1, 4, 2, 3]);
    }
  });

  it('serves a trial job only when no paid one waits', () => {
    const queue = new FairQueue<Job>(largeLimits);
    queue.add(job('trial', 0, { trial: true }), 0);
    queue.add(job('a', 1), 5);
    queue.add(job('a', 2), 5);
    expect(idsTaken(queue)).to.deep.equal([1, 2, 0]);
  });

  it('counts the paid jobs that wait, without those that a slot is opened for', () => {
    const queue = new FairQueue<Job>(largeLimits);
    add(queue, job('trial', 0, { trial: true }));
    for (const id of [1, 2, 3]) add(queue, job(`account ${id % 2}`, id));
    expect(queue.paidWaiting()).to.equal(3);
    const taken = take(queue)!;
    expect([queue.paidWaiting(), queue.depth()]).to.deep.equal([2, 4]);
    queue.undoTake(taken, 0);
    expect(queue.paidWaiting()).to.equal(3);
  });

  it('serves a trial job only while more than half of the slots are free', () => {
    const queue = new FairQueue<Job>(largeLimits);
    queue.add(job('trial', 0, { trial: true }), 0);
    for (const [free, slots] of [
      [1, 2],
      [2, 4],
      [0, 1],
    ])
      expect(queue.take(0, { free: free!, slots: slots! }), `${free} of ${slots}`).to.equal(
        undefined,
      );
    expect(queue.waiting()).to.equal(1);
    expect(queue.take(0, { free: 2, slots: 3 })?.job.id).to.equal(0);
    expect([queue.waiting(), queue.depth()]).to.deep.equal([0, 1]);
  });

  it('serves a trial job of fewer than four slots only when no paid one has held any for half a second', () => {
    const queue = new FairQueue<Job>(largeLimits);
    queue.add(job('a', 1), 0);
    const paid = take(queue, 0)!;
    queue.remove(paid);
    queue.add(job('trial', 0, { trial: true }), 0);
    expect(queue.take(900, { free: 2, slots: 3 }), 'one is held').to.equal(undefined);
    queue.release(paid, 1_000);
    expect(queue.take(1_499, { free: 3, slots: 3 }), 'one was held').to.equal(undefined);
    expect(queue.take(1_500, { free: 3, slots: 3 })?.job.id).to.equal(0);
    queue.add(job('trial', 2, { trial: true }), 1_250);
    queue.add(job('a', 3), 1_250);
    expect(take(queue, 1_250)?.job.id).to.equal(3);
    expect(
      queue.take(1_250, { free: 3, slots: 4 })?.job.id,
      'of four slots one is a quarter',
    ).to.equal(2);
  });

  it('serves the account first that holds less now and recently', () => {
    const queue = new FairQueue<Job>(largeLimits);
    for (const id of [0, 1, 2]) queue.add(job('a', id), 0);
    const entries = [take(queue, 0)!, take(queue, 0)!];
    for (const entry of entries) queue.remove(entry);
    queue.add(job('b', 10), 1_000);
    queue.add(job('b', 11), 1_000);
    expect(take(queue, 1_000)?.job.id, 'a holds two').to.equal(10);
    for (const entry of entries) queue.release(entry, 1_000);
    expect(take(queue, 1_000)?.job.id, 'b holds one').to.equal(2);
    expect(take(queue, 1_000)?.job.id).to.equal(11);
  });

  it('reports the longest wait, and begins a new wait for a reenqueued job', () => {
    const queue = new FairQueue<Job>(largeLimits);
    const first = add(queue, job('a', 0), 100);
    queue.add(job('b', 1), 250);
    expect(queue.oldestWaitMs(400)).to.equal(300);
    expect(take(queue)).to.equal(first);
    expect(queue.oldestWaitMs(400), 'being served is waiting still').to.equal(300);
    queue.remove(first);
    expect(queue.oldestWaitMs(400)).to.equal(150);
    queue.reenqueue(first, 500);
    expect(queue.oldestWaitMs(600)).to.equal(350);
    expect(idsTaken(queue), 'its old entry').to.deep.equal([0, 1]);
    expect(queue.oldestWaitMs(600)).to.equal(0);
  });

  it('leaves a quarter of its length to other accounts when one has filled the rest', () => {
    const queue = new FairQueue<Job>({ maxLength: 8, maxBytes: 1_000 });
    for (let id = 0; id < 6; id++) add(queue, job('a', id));
    expect(queue.add(job('a', 6), 0)).to.equal('share');
    for (const id of [7, 8]) add(queue, job('b', id));
    expect(queue.add(job('c', 9), 0)).to.equal('full');
  });

  it('leaves a quarter of its bytes to other accounts, and does not count removed jobs', () => {
    const queue = new FairQueue<Job>({ maxLength: 100, maxBytes: 80 });
    const first = add(queue, job('a', 0, { bytes: 60 }));
    expect(queue.add(job('a', 1, { bytes: 1 }), 0)).to.equal('share');
    add(queue, job('b', 2, { bytes: 20 }));
    queue.remove(first);
    add(queue, job('a', 3, { bytes: 40 }));
  });

  it('reenqueues a job that was served although the queue is full', () => {
    const queue = new FairQueue<Job>({ maxLength: 1, maxBytes: 40 });
    const first = add(queue, job('a', 0, { bytes: 10 }));
    take(queue);
    queue.remove(first);
    add(queue, job('b', 1, { bytes: 10 }));
    queue.reenqueue(first, 1);
    expect([queue.depth(), queue.bytes()]).to.deep.equal([2, 20]);
    expect(idsTaken(queue)).to.deep.equal([0, 1]);
  });
});
