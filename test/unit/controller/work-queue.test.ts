import { expect } from 'chai';
import { createMetrics } from '../../../common/operations.ts';
import { createWorkQueue, type WorkQueue } from '../../../controller/work-queue.ts';
import { eventually } from '../../support/eventually.ts';

describe('work queue', () => {
  let queue: WorkQueue;
  beforeEach(() => {
    queue = createWorkQueue(createMetrics({ processDefaults: false }));
  });
  afterEach(() => queue.stop());

  /** Work that ends when the test calls `endAll`. */
  function manualWork(concurrency: number) {
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    queue.start(concurrency, key => {
      begun.push(key);
      return new Promise(resolve => ends.push(resolve));
    });
    return { begun, endAll: () => ends.splice(0).map(end => end()) };
  }

  it('queues each pool once, however often it is added', async () => {
    queue.add('a');
    queue.add('a');
    queue.add('b');
    expect(queue.depth()).to.equal(2);
    const { begun, endAll } = manualWork(4);
    expect(begun).to.deep.equal(['a', 'b']);
    endAll();
  });

  it('processes a pool once more if it is added while in progress, and never twice at once', async () => {
    const { begun, endAll } = manualWork(4);
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

  it('limits the number of keys in progress', async () => {
    const { begun, endAll } = manualWork(2);
    for (const key of ['a', 'b', 'c']) queue.add(key);
    expect(begun).to.deep.equal(['a', 'b']);
    endAll();
    await eventually(() => expect(begun).to.deep.equal(['a', 'b', 'c']));
    endAll();
  });

  it('uses the earliest of several delays, and queues an immediate add before all delays', async () => {
    const { begun, endAll } = manualWork(4);
    queue.addAfter('later', 3_600_000);
    queue.addAfter('later', 5);
    await eventually(() => expect(begun).to.deep.equal(['later']));
    endAll();
    queue.addAfter('now', 3_600_000);
    queue.add('now');
    await eventually(() => expect(begun).to.deep.equal(['later', 'now']));
    endAll();
  });

  it('increases the delay after each failure, and resets it after a success', async () => {
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
    // At least 5 + 10 + … + 160 ms.
    expect(begun.at(-1)! - begun[0]!).to.be.at.least(310);
    queue.forget('a');
    const again = Promise.withResolvers<void>();
    await queue.stop();
    queue = createWorkQueue(createMetrics({ processDefaults: false }));
    queue.start(1, async () => again.resolve());
    queue.addAfterFailure('a');
    await again.promise;
  });

  it('does not queue a failed key before its retry unless it is added explicitly', async () => {
    const { begun, endAll } = manualWork(4);
    for (let times = 0; times < 30; times++) queue.addAfterFailure('a');
    // The earliest delay is 5 ms after the first failure.
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
    // No retry is pending any more, so the key is queued.
    queue.addUnlessFailing('a');
    expect(begun).to.deep.equal(['a', 'b', 'a', 'a']);
    endAll();
  });

  it('waits for keys in progress when it stops, and starts no others', async () => {
    const { begun, endAll } = manualWork(1);
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
