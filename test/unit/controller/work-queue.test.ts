import { expect } from 'chai';
import { createMetrics } from '../../../common/operations.ts';
import { createWorkQueue, type WorkQueue } from '../../../controller/work-queue.ts';
import { eventually } from '../../support/eventually.ts';

describe('the line of pools', () => {
  let queue: WorkQueue;
  beforeEach(() => {
    queue = createWorkQueue(createMetrics({ processDefaults: false }));
  });
  afterEach(() => queue.stop());

  /** Work that ends when the test says so. */
  function byHand(concurrency: number) {
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    queue.start(concurrency, key => {
      begun.push(key);
      return new Promise(resolve => ends.push(resolve));
    });
    return { begun, endAll: () => ends.splice(0).map(end => end()) };
  }

  it('has each pool once, however often it was added', async () => {
    queue.add('a');
    queue.add('a');
    queue.add('b');
    expect(queue.depth()).to.equal(2);
    const { begun, endAll } = byHand(4);
    expect(begun).to.deep.equal(['a', 'b']);
    endAll();
  });

  it('looks at a pool once more that was added while it was at work, and never twice at once', async () => {
    const { begun, endAll } = byHand(4);
    queue.add('a');
    queue.add('a');
    queue.add('a');
    expect(begun).to.deep.equal(['a']);
    endAll();
    await eventually(() => expect(begun).to.deep.equal(['a', 'a']));
    endAll();
    await Promise.resolve();
    expect(begun).to.deep.equal(['a', 'a']);
  });

  it('works on no more keys at once than it is allowed', async () => {
    const { begun, endAll } = byHand(2);
    for (const key of ['a', 'b', 'c']) queue.add(key);
    expect(begun).to.deep.equal(['a', 'b']);
    endAll();
    await eventually(() => expect(begun).to.deep.equal(['a', 'b', 'c']));
    endAll();
  });

  it('takes the soonest of several times, and what is added at once before all', async () => {
    const { begun, endAll } = byHand(4);
    queue.addAfter('later', 3_600_000);
    queue.addAfter('later', 5);
    await eventually(() => expect(begun).to.deep.equal(['later']));
    endAll();
    queue.addAfter('now', 3_600_000);
    queue.add('now');
    await eventually(() => expect(begun).to.deep.equal(['later', 'now']));
    endAll();
  });

  it('comes later after each failure, and as soon as at first when it went well', async () => {
    const begun: number[] = [];
    const failTimes = 6;
    const { promise: done, resolve } = Promise.withResolvers<void>();
    queue.start(1, async () => {
      begun.push(performance.now());
      if (begun.length <= failTimes) queue.addAfterFailure('a');
      else resolve();
    });
    queue.add('a');
    await done;
    // 5 + 10 + … + 160 ms at least.
    expect(begun.at(-1)! - begun[0]!).to.be.at.least(310);
    queue.forget('a');
    const again = Promise.withResolvers<void>();
    await queue.stop();
    queue = createWorkQueue(createMetrics({ processDefaults: false }));
    queue.start(1, async () => again.resolve());
    queue.addAfterFailure('a');
    await again.promise;
  });

  it('leaves what failed until its time, unless it is added for itself', async () => {
    const { begun, endAll } = byHand(4);
    for (let times = 0; times < 30; times++) queue.addAfterFailure('a');
    // The first of all these times is 5 ms from the first failure.
    await eventually(() => expect(begun).to.deep.equal(['a']));
    queue.addAfterFailure('a');
    endAll();
    await new Promise(setImmediate);
    queue.addUnlessFailing('a');
    queue.addUnlessFailing('b');
    expect(begun).to.deep.equal(['a', 'b']);
    queue.add('a');
    expect(begun).to.deep.equal(['a', 'b', 'a']);
    endAll();
    await new Promise(setImmediate);
    // Nothing waits for its time any more: so it may be looked at.
    queue.addUnlessFailing('a');
    expect(begun).to.deep.equal(['a', 'b', 'a', 'a']);
    endAll();
  });

  it('waits at its end for what is at work, and begins nothing more', async () => {
    const { begun, endAll } = byHand(1);
    queue.add('a');
    queue.add('b');
    queue.addAfter('c', 1);
    let stopped = false;
    const stopping = queue.stop().then(() => {
      stopped = true;
    });
    await new Promise(resolve => setTimeout(resolve, 20));
    expect(stopped).to.equal(false);
    endAll();
    await stopping;
    expect(begun).to.deep.equal(['a']);
  });
});
