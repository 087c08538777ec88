// Root hooks of the whole run: ends what all suites share, then fails the run when something was
// left open.
import { setTimeout as sleep } from 'node:timers/promises';
import { removeProductImages } from '../cluster/built-product.ts';
import { leakedProcesses, leakedResources, markChildren, openResources } from './leaks.ts';
import { stopTestMongod } from './servers/mongod.ts';

/** How long sockets and processes that were told to end may take. */
const SETTLE_MS = 3_000;

// Mocha hands rejections on to listeners of the process and to nobody else: without this one they
// would be lost.
process.on('unhandledRejection', reason => {
  throw reason;
});

let before: Map<string, number>;

export const mochaHooks = {
  async beforeAll() {
    markChildren();
    // One step later mocha's own timer of this hook runs, as it does in the last one.
    await new Promise(setImmediate);
    before = openResources();
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
