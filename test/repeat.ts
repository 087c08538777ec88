// `npm run test:repeat -- FILE … [--times 10] [--load 4]`: runs each test file `times` times in a
// row beside `load` busy loops. Stops a file at its first failure and prints how many runs passed.
import { type ChildProcess, spawn } from 'node:child_process';
import { parseArgs } from 'node:util';
import { runMocha } from './support/mocha-process.ts';
import { prepareTests } from './support/prepare.ts';

const print = (line: string) => process.stdout.write(`${line}\n`);

/** Limit of one run of one file: a longer run hangs. */
const FILE_LIMIT_MS = 20 * 60_000;
/** A busy loop that ends when its parent process ends, even when that is killed. */
const BUSY =
  'const parent = process.ppid; for (;;) { const end = Date.now() + 100; while (Date.now() < end); if (process.ppid !== parent) process.exit(); }';

const USAGE = 'Usage: npm run test:repeat -- FILE … [--times 10] [--load 4]';

function readArguments(): { files: string[]; times: number; load: number } {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { times: { type: 'string', default: '10' }, load: { type: 'string', default: '4' } },
  });
  const count = (name: 'times' | 'load', least: number) => {
    const number = Number(values[name]);
    if (!Number.isInteger(number) || number < least)
      throw new Error(`--${name} must be a whole number, at least ${least}. ${USAGE}`);
    return number;
  };
  if (positionals.length === 0) throw new Error(`No test file is named. ${USAGE}`);
  return { files: positionals, times: count('times', 1), load: count('load', 0) };
}

/** Returns the number of runs that passed before the first failure. */
async function repeat(chrome: string, file: string, times: number): Promise<number> {
  for (let passed = 0; passed < times; passed++) {
    const { code } = await runMocha({
      chrome,
      args: [file],
      limit: AbortSignal.timeout(FILE_LIMIT_MS),
    });
    if (code !== 0) return passed;
  }
  return times;
}

const loops: ChildProcess[] = [];
try {
  const { files, times, load } = readArguments();
  const chrome = await prepareTests(print);
  for (let loop = 0; loop < load; loop++)
    loops.push(spawn(process.execPath, ['-e', BUSY], { stdio: 'ignore' }));
  const results: [string, number][] = [];
  for (const file of files) results.push([file, await repeat(chrome, file, times)]);
  for (const [file, passed] of results)
    print(
      `${passed === times ? 'ok  ' : 'fail'} ${file}: ${passed} of ${times} runs passed in a row`,
    );
  const good = results.filter(([, passed]) => passed === times).length;
  print(`${good} passed, ${files.length - good} failed`);
  process.exitCode = good === files.length ? 0 : 1;
} catch (error) {
  print((error as Error).message);
  process.exitCode = 2;
} finally {
  for (const loop of loops) loop.kill('SIGKILL');
}
