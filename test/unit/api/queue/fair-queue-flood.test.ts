import { expect } from 'chai';
import { FairQueue } from '../../../../api/queue/fair-queue.ts';
import { type Job, job, largeLimits, take } from '../../../support/queue-jobs.ts';

describe('the queue with an account over its fair share', () => {
  const lastFree = { free: 1, slots: 2 };
  /** `flood` has held a slot for ten seconds and has more waiting; `modest` held one for 200 ms. */
  function flooded() {
    const queue = new FairQueue<Job>(largeLimits);
    for (let id = 0; id < 20; id++) queue.add(job('flood', id), 0);
    const held = take(queue, 0)!;
    queue.remove(held);
    queue.add(job('modest', 100), 9_000);
    const modest = take(queue, 9_000)!;
    expect(modest.job.id).to.equal(100);
    queue.remove(modest);
    queue.release(modest, 9_200);
    return { queue, held };
  }

  it('keeps the last free slot for other accounts while they are active', () => {
    const { queue } = flooded();
    expect(queue.take(10_000, lastFree)).to.equal(undefined);
    expect(queue.take(10_000, { free: 2, slots: 3 })?.job.accountId, 'there is another').to.equal(
      'flood',
    );
    queue.add(job('modest', 101), 10_000);
    expect(queue.take(10_000, lastFree)?.job.id).to.equal(101);
  });

  it('assigns it the last slot when a worker has offered it', () => {
    expect(flooded().queue.take(10_000, { ...lastFree, offered: 1 })?.job.accountId).to.equal(
      'flood',
    );
  });

  it('throttles it in its second second, although the others have been active for long', () => {
    const queue = new FairQueue<Job>(largeLimits);
    for (let atMs = 0; atMs < 10_000; atMs += 500) {
      for (const accountId of ['modest', 'another']) {
        queue.add(job(accountId, atMs), atMs);
        const entry = take(queue, atMs)!;
        queue.remove(entry);
        queue.release(entry, atMs + 150);
      }
    }
    for (let id = 0; id < 20; id++) queue.add(job('flood', id), 10_000);
    for (const entry of [take(queue, 10_000)!, take(queue, 10_000)!]) {
      queue.remove(entry);
      queue.release(entry, 11_100);
    }
    expect(queue.take(11_100, lastFree)).to.equal(undefined);
  });

  it('assigns it the last slot when no other account is active, or when there is only one slot', () => {
    expect(flooded().queue.take(19_300, lastFree)?.job.accountId).to.equal('flood');
    expect(flooded().queue.take(10_000, { free: 1, slots: 1 })?.job.accountId).to.equal('flood');
  });

  it('assigns it the last slot when the others hold all other slots for long', () => {
    const { queue, held } = flooded();
    queue.add(job('modest', 101), 10_000);
    expect(take(queue, 10_000)?.job.id).to.equal(101);
    queue.release(held, 10_000);
    expect(queue.take(10_000, lastFree), 'it has had more than its share').to.equal(undefined);
    expect(queue.take(20_000, lastFree)?.job.accountId).to.equal('flood');
  });

  it('throttles no account in favor of trial renders', () => {
    const queue = new FairQueue<Job>(largeLimits);
    queue.add(job('trial', 100, { trial: true }), 0);
    const trial = take(queue, 0)!;
    queue.remove(trial);
    queue.release(trial, 500);
    for (let id = 0; id < 20; id++) queue.add(job('only', id), 500);
    queue.remove(take(queue, 500)!);
    expect(queue.take(5_000, lastFree)?.job.accountId).to.equal('only');
  });

  it('does not throttle a burst', () => {
    const { queue } = flooded();
    for (const id of [101, 102, 103]) queue.add(job('modest', id), 10_000);
    const served = [10_000, 10_300, 10_600].map(atMs => {
      const entry = queue.take(atMs, lastFree);
      if (entry) queue.remove(entry);
      if (entry) queue.release(entry, atMs + 250);
      return entry?.job.id;
    });
    expect(served).to.deep.equal([101, 102, 103]);
  });
});
