// `npm test`, `test:cluster`, `test:faults`, `test:release` and `test:all`: installs what the tests
// need, runs each suite in lanes, and prints one line of totals at the end. With arguments
// (`npm test -- FILE -g TITLE`) it runs one mocha with them.
import { mkdirSync, writeFileSync } from 'node:fs';
import { type MochaResult, runMocha } from './support/mocha-process.ts';
import { prepareTests } from './support/prepare.ts';
import type { FileTime, RunNumbers } from './support/reporter.ts';
import {
  filesOf,
  lanesOf,
  measuredSeconds,
  SUITES,
  type SuiteName,
  suites,
} from './support/suites.ts';

const print = (line: string) => process.stdout.write(`${line}\n`);

const ARTIFACTS = new URL('../artifacts/', import.meta.url);
const MINUTE_MS = 60_000;
/** How many of the slowest files are listed when a run took too long. */
const SLOWEST = 10;

interface Outcome {
  results: MochaResult[];
  /** The reason why the run was stopped early. */
  problem?: string;
}

const timesOf = (results: readonly MochaResult[]): FileTime[] =>
  results.flatMap(({ numbers }) => numbers?.times ?? []).sort((a, b) => b.seconds - a.seconds);

const row = ({ file, seconds, cpuSeconds }: FileTime) =>
  `| ${file} | ${seconds.toFixed(1)} | ${cpuSeconds.toFixed(1)} |`;

/**
 * Writes a readable table, and the seconds that balance the lanes in the format of
 * `test/timings.json`.
 */
function writeTimings(name: string, times: readonly FileTime[]): void {
  mkdirSync(ARTIFACTS, { recursive: true });
  const write = (file: string, text: string) => writeFileSync(new URL(file, ARTIFACTS), text);
  const sum = (of: 'seconds' | 'cpuSeconds') => times.reduce((total, time) => total + time[of], 0);
  const total = { file: 'all files', seconds: sum('seconds'), cpuSeconds: sum('cpuSeconds') };
  write(
    `timings-${name}.md`,
    [
      '| file | seconds | CPU seconds |',
      '| --- | ---: | ---: |',
      row(total),
      ...times.map(row),
      '',
    ].join('\n'),
  );
  const rounded = times.map(({ file, seconds }) => [file, Math.round(seconds * 10) / 10] as const);
  const seconds = Object.fromEntries(
    [...Object.entries(measuredSeconds()), ...rounded].sort(([a], [b]) => a.localeCompare(b, 'en')),
  );
  write('timings.json', `${JSON.stringify(seconds, undefined, 2)}\n`);
  print(
    `Times per file: artifacts/timings-${name}.md (artifacts/timings.json is the next test/timings.json).`,
  );
}

/** The files that have not finished, then those that took longest. */
function slowest(results: readonly MochaResult[]): string {
  const running = results.flatMap(({ numbers }) => numbers?.running ?? []);
  const times = [
    ...running.map(({ file, beganMs }) => ({ file, seconds: (Date.now() - beganMs) / 1_000 })),
    ...timesOf(results).slice(0, SLOWEST),
  ];
  return times.map(({ file, seconds }) => `  ${Math.round(seconds)} s ${file}`).join('\n');
}

async function runSuite(
  name: SuiteName,
  chrome: string,
  args: readonly string[],
): Promise<Outcome> {
  if (args.length > 0) return { results: [await runMocha({ chrome, args })] };
  const { limitMinutes, lanes } = suites[name];
  const limit = AbortSignal.timeout(limitMinutes * MINUTE_MS);
  const filesByLane = lanesOf(filesOf(name), measuredSeconds(), lanes);
  const results = await Promise.all(
    filesByLane.map((files, index) => runMocha({ chrome, args: files, limit, lane: index + 1 })),
  );
  if (!limit.aborted) return { results };
  return {
    results,
    problem: `the ${name} suite was stopped after ${limitMinutes} minutes. The files that were running, and the slowest before them:\n${slowest(results)}`,
  };
}

/** Runs suites one after the other. A failed installation is a failure like any other. */
async function run(
  names: readonly SuiteName[],
  args: readonly string[],
  timings: boolean,
): Promise<Outcome[]> {
  try {
    const chrome = await prepareTests(print);
    const outcomes: Outcome[] = [];
    for (const name of names) {
      const outcome = await runSuite(name, chrome, args);
      if (timings) writeTimings(name, timesOf(outcome.results));
      outcomes.push(outcome);
    }
    return outcomes;
  } catch (error) {
    return [{ results: [], problem: (error as Error).message }];
  }
}

const inFile = (numbers?: RunNumbers) => (numbers?.running ? ` in ${numbers.running.file}` : '');

/**
 * Repeats all failures, which are hard to find in the output of several lanes, and adds the
 * totals. A mocha that ended early is one more failure.
 */
function closing(outcomes: readonly Outcome[]): { lines: string[]; good: boolean } {
  const failed = outcomes.flatMap(({ problem }) => problem ?? []);
  let [passed, skipped] = [0, 0];
  for (const { code, numbers } of outcomes.flatMap(({ results }) => results)) {
    failed.push(...(numbers?.failed ?? []));
    passed += numbers?.passed ?? 0;
    skipped += numbers?.skipped ?? 0;
    if (!numbers?.failed.length && (code !== 0 || !numbers?.passed))
      failed.push(`mocha ended early (exit code ${code})${inFile(numbers)}`);
  }
  const last = `${passed} passed, ${failed.length} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
  return { lines: [...failed.map(title => `failed: ${title}`), last], good: failed.length === 0 };
}

const [suite, ...rest] = process.argv.slice(2);
const args = rest.filter(arg => arg !== '--timings');
const suiteNames = SUITES.filter(name => suite === 'all' || name === suite);
// Arguments of mocha take the place of the suites' files, so they are run once.
const names = args.length > 0 ? suiteNames.slice(0, 1) : suiteNames;
if (names.length === 0)
  throw new Error(`Unknown suite "${suite}". Use one of ${SUITES.join(', ')}, all.`);
const { lines, good } = closing(await run(names, args, args.length < rest.length));
for (const line of lines) print(line);
process.exitCode = good ? 0 : 1;
