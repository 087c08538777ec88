// Mocha's spec reporter that also prints skip reasons and sends counts and times to run.ts.
import { relative } from 'node:path';
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
  /** The full titles of the failed tests. */
  failed: string[];
  /** Number of tests skipped with a reason. A skip without a reason counts as failed. */
  skipped: number;
  /** Times of the files that have finished. */
  times: FileTime[];
  /** The file that is running, and when its suite began (`Date.now()`). */
  running?: { file: string; beganMs: number };
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

/** CPU time of this process and its descendants, including ended ones. */
const cpuSecondsOfTree = (): number =>
  treeOf(process.pid).reduce((sum, { ownMs, reapedMs }) => sum + ownMs + reapedMs, 0) / 1_000;

/** Sums times per file, because a file may have several top-level suites. */
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

const fileOf = (suite: Mocha.Suite): string => relative(process.cwd(), suite.file!);

class Reporter extends Mocha.reporters.Spec {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    const failed: string[] = [];
    let skipped = 0;
    const times = new FileTimes();
    let running: RunNumbers['running'];
    runner.on('suite', suite => {
      if (!suite.parent?.root) return;
      times.begin();
      running = { file: fileOf(suite), beganMs: Date.now() };
      send();
    });
    runner.on('suite end', suite => {
      if (!suite.parent?.root) return;
      times.end(fileOf(suite));
      running = undefined;
    });
    runner.on('pending', test => {
      const reason = reasonOf(test);
      if (reason === undefined) failed.push(`${test.fullTitle()} (skipped without a reason)`);
      else skipped++;
      console.log(`      skipped: ${reason ?? 'no reason given'}`);
    });
    runner.on('fail', test => failed.push(test.fullTitle()));
    // Sent before every file and after every test, so that an interrupted run reports its counts.
    const send = () =>
      process.send?.({
        passed: runner.stats!.passes,
        failed,
        skipped,
        times: times.list(),
        ...(running && { running }),
      } satisfies RunNumbers);
    runner.on('test end', send);
    runner.once('end', send);
  }
}

export { Reporter as 'module.exports' };
