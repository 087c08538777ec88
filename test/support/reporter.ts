// Mocha's spec reporter, which also says why a test was skipped and tells the numbers to run.ts.
import Mocha from 'mocha';

export interface RunNumbers {
  passed: number;
  /** Their full titles. */
  failed: string[];
  /** Those with a reason; a skip without one counts as failed. */
  skipped: number;
}

type Skippable = (Mocha.Test | Mocha.Suite) & { skipReason?: string };

/** The reason stands at the test, or at the hook or suite that skipped all of it. */
function reasonOf(test: Mocha.Test): string | undefined {
  for (let at: Skippable | undefined = test as Skippable; at; at = at.parent as Skippable | undefined)
    if (at.skipReason) return at.skipReason;
  return undefined;
}

class Reporter extends Mocha.reporters.Spec {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    const failed: string[] = [];
    let skipped = 0;
    runner.on('pending', test => {
      const reason = reasonOf(test);
      if (reason === undefined) failed.push(`${test.fullTitle()} (skipped without a reason)`);
      else skipped++;
      console.log(`      skipped: ${reason ?? 'no reason was given'}`);
    });
    runner.on('retry', (test, error) => {
      console.log(`      tried again: ${test.fullTitle()}\n${String(error.stack ?? error).replace(/^/gm, '        ')}`);
    });
    runner.on('fail', test => failed.push(test.fullTitle()));
    // After every test, so that a run which is broken off has its numbers told as well.
    const tell = () => process.send?.({ passed: runner.stats!.passes, failed, skipped } satisfies RunNumbers);
    runner.on('test end', tell);
    runner.once('end', tell);
  }
}

export { Reporter as 'module.exports' };
