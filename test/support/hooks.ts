// Root hooks of a run: stop what all suites share, then fail the run if resources were leaked.
import { setTimeout as sleep } from 'node:timers/promises';
import { removeProductImages } from '../cluster/built-product.ts';
import { leakedProcesses, leakedResources, markChildren, openResources } from './leaks.ts';
import { forgetClosedPages, receivedByPages } from './page-faults.ts';
import { stopTestMongod } from './servers/mongod.ts';

/** Time for sockets and processes to end after they were closed. */
const SETTLE_MS = 3_000;

// Mocha forwards unhandled rejections to listeners of the process only. Without a listener they
// would be lost.
process.on('unhandledRejection', reason => {
  throw reason;
});

let before: Map<string, number>;

export const mochaHooks = {
  async beforeAll() {
    markChildren();
    // Mocha's timer of this hook starts one step later and is then in both counts.
    await new Promise(setImmediate);
    before = openResources();
  },
  beforeEach: forgetClosedPages,
  afterEach(this: Mocha.Context) {
    if (this.currentTest?.state !== 'failed') return;
    for (const received of receivedByPages()) console.log(received);
  },
  async afterAll(this: Mocha.Context) {
    this.timeout(120_000);
    await stopTestMongod();
    await removeProductImages();
    let left: string[] = [];
    for (const end = performance.now() + SETTLE_MS; performance.now() < end; await sleep(20)) {
      left = [...leakedResources(before), ...leakedProcesses()];
      if (left.length === 0) return;
    }
    throw new Error(`The tests left behind:\n${left.map(line => `  ${line}`).join('\n')}`);
  },
};
