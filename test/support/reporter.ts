// Mocha's spec reporter, which also prints why a test was skipped and sends numbers and times to
// run.ts.
import Mocha from 'mocha';
import { treeOf } from './processes.ts';

/** Wall time and CPU time of a test file's process tree, hooks included. */
export interface FileTime {
  file: string;
  seconds: number;
  cpuSeconds: number;
}

export interface RunNumbers {
  passed: number;
  /** Their full titles. */
  failed: string[];
  /** Those with a reason; a skip without one counts as failed. */
  skipped: number;
  /** Of the files that have ended. */
  times: FileTime[];
}

type Skippable = (Mocha.Test | Mocha.Suite) & { skipReason?: string };

/** The reason is stored on the test, or on the suite that was skipped as a whole. */
function reasonOf(test: Mocha.Test): string | undefined {
  for (
    let at: Skippable | undefined = test as Skippable;
    at;
    at = at.parent as Skippable | undefined
  )
    if (at.skipReason) return at.skipReason;
  return undefined;
}

/** CPU time of this process, its descendants and those of them that have ended. */
const cpuSecondsOfTree = (): number =>
  treeOf(process.pid).reduce((sum, { ownMs, reapedMs }) => sum + ownMs + reapedMs, 0) / 1_000;

/** Adds up times per file: a file may have several suites at its top level. */
class FileTimes {
  readonly #times = new Map<string, FileTime>();
  #began = { at: 0, cpuSeconds: 0 };

  begin(): void {
    this.#began = { at: performance.now(), cpuSeconds: cpuSecondsOfTree() };
  }

  end(file: string): void {
    const { at, cpuSeconds } = this.#began;
    const time = this.#times.get(file) ?? { file, seconds: 0, cpuSeconds: 0 };
    this.#times.set(file, time);
    time.seconds += (performance.now() - at) / 1_000;
    time.cpuSeconds += Math.max(0, cpuSecondsOfTree() - cpuSeconds);
    this.begin();
  }

  list(): FileTime[] {
    return [...this.#times.values()];
  }
}

const fileOf = (suite: Mocha.Suite): string => suite.file!.slice(process.cwd().length + 1);

class Reporter extends Mocha.reporters.Spec {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    const failed: string[] = [];
    let skipped = 0;
    const times = new FileTimes();
    runner.on('suite', suite => {
      if (suite.parent?.root) times.begin();
    });
    runner.on('suite end', suite => {
      if (suite.parent?.root) times.end(fileOf(suite));
    });
    runner.on('pending', test => {
      const reason = reasonOf(test);
      if (reason === undefined) failed.push(`${test.fullTitle()} (skipped without a reason)`);
      else skipped++;
      console.log(`      skipped: ${reason ?? 'no reason was given'}`);
    });
    runner.on('fail', test => failed.push(test.fullTitle()));
    // Sent after every test, so that the numbers of an interrupted run are known too.
    const send = () =>
      process.send?.({
        passed: runner.stats!.passes,
        failed,
        skipped,
        times: times.list(),
      } satisfies RunNumbers);
    runner.on('test end', send);
    runner.once('end', send);
  }
}

export { Reporter as 'module.exports' };
