// `npm test`: gets what the tests need (Chrome, mongod, tools of poppler, NSS and iproute2), runs mocha, and closes with one plain line. Arguments go to one mocha, `npm test -- FILE -g TITLE`;
// without any, all tests run in lanes beside one another.
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { aptInstall } from '../standalone/apt.ts';
import { findOnPath } from '../standalone/cache.ts';
import { prepareChrome } from '../standalone/chrome.ts';
import { buildDashboard } from '../standalone/dashboard.ts';
import { scriptsWithoutFont } from '../standalone/fonts.ts';
import { findOrInstallMongod } from '../standalone/mongod.ts';
import { readWorkerConfig } from '../worker/config.ts';
import type { RunNumbers } from './support/reporter.ts';

const say = (line: string) => process.stdout.write(`${line}\n`);
const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

/** A second request to end does not wait for the tests' own clean-up. */
function passSignalsOn(child: ReturnType<typeof spawn>): void {
  let asked = false;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      child.kill(asked ? 'SIGKILL' : 'SIGINT');
      asked = true;
    });
  }
}

/** Where the tests on a cluster run in any case: their programs take ten minutes to build, and most tests wait more than they work. Ends by itself. */
function buildAhead(): void {
  if (process.env.PRESSROOM_CLUSTER_TESTS !== 'always') return;
  const child = spawn(process.execPath, [path('cluster/kube/build-ahead.ts')], { stdio: ['ignore', 'inherit', 'inherit'] });
  process.once('exit', () => child.kill());
}

/** What one mocha came to: its exit code, and its numbers as far as it got. */
interface Ended {
  code: number;
  numbers: RunNumbers | undefined;
}

/** Of what runs on a cluster: what needs the product's images, which take minutes to build, and as much of the rest as makes the lanes equal. */
const IN_FIRST_LANE = /^test\/cluster\/(images\.|end-to-end\.|node\/|controller-(faults|many)\.)/;

/** The files of each lane, in their order. The two take about as long; scenarios (`fault`) wait more than they work, the rest works more than it waits. What runs on a cluster comes last: its programs are built meanwhile. */
function lanes(): string[][] {
  const filesOf = (folder: string) =>
    readdirSync(path(folder), { recursive: true, encoding: 'utf8' })
      .filter(file => file.endsWith('.test.ts'))
      .sort()
      .map(file => `test/${folder}/${file}`);
  const cluster = filesOf('cluster');
  return [
    [...filesOf('unit'), ...filesOf('integration'), ...cluster.filter(file => IN_FIRST_LANE.test(file))],
    [...filesOf('fault'), ...filesOf('browser'), ...cluster.filter(file => !IN_FIRST_LANE.test(file))],
  ];
}

/** Each line begins with the number of its lane, since those of several come in turns. */
function printLines(lane: number, output: Readable): void {
  createInterface({ input: output }).on('line', line => say(`${lane} | ${line}`));
}

/** With a lane's number, its output is that lane's. */
async function runMocha(chrome: string, args: readonly string[], lane?: number): Promise<Ended> {
  const output = lane === undefined ? 'inherit' : 'pipe';
  const child = spawn(
    process.execPath,
    [path('../node_modules/mocha/bin/mocha.js'), '--exit', '--reporter', path('support/reporter.ts'), ...args],
    {
      cwd: path('..'),
      stdio: ['ignore', output, output, 'ipc'],
      env: { ...process.env, PRESSROOM_CHROME: chrome },
    },
  );
  for (const each of [child.stdout, child.stderr]) if (each) printLines(lane!, each);
  passSignalsOn(child);
  let numbers: RunNumbers | undefined;
  child.on('message', message => {
    numbers = message as RunNumbers;
  });
  const code = await new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', code => resolve(code ?? 1));
  });
  return { code, numbers };
}

function runAll(chrome: string): Promise<Ended[]> {
  const args = process.argv.slice(2);
  if (args.length > 0) return Promise.all([runMocha(chrome, args)]);
  return Promise.all(lanes().map((files, index) => runMocha(chrome, files, index + 1)));
}

/** What is said at the end: once more what failed, since lanes bury it, and the numbers. A mocha that broke off counts as one more failure: its other tests never had their say. */
function closing(ended: readonly Ended[]): { lines: string[]; good: boolean } {
  const failed: string[] = [];
  let passed = 0;
  let skipped = 0;
  for (const { code, numbers } of ended) {
    failed.push(...(numbers?.failed ?? []));
    passed += numbers?.passed ?? 0;
    skipped += numbers?.skipped ?? 0;
    if (!numbers?.failed.length && (code !== 0 || !numbers?.passed)) failed.push('a run of mocha that broke off');
  }
  const last = `${passed} passed, ${failed.length} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
  return { lines: [...failed.map(title => `failed: ${title}`), last], good: failed.length === 0 };
}

/** Tests of scripts whose fonts are missing all the same skip themselves. */
async function installFonts(executable: string): Promise<void> {
  const missing = await scriptsWithoutFont({ ...readWorkerConfig(process.env).chrome, executable });
  const packages = new Set(missing.map(({ fontPackage }) => fontPackage));
  if (packages.size > 0) await aptInstall([...packages], say);
}

async function run(): Promise<Ended[]> {
  try {
    const chrome = await (await prepareChrome(process.env, say, readWorkerConfig(process.env).chrome))();
    await findOrInstallMongod(process.env, say);
    await buildDashboard(say);
    buildAhead();
    if (!findOnPath(['pdftotext'], process.env)) await aptInstall(['poppler-utils'], say);
    if (!findOnPath(['ip'], process.env)) await aptInstall(['iproute2'], say);
    if (!findOnPath(['certutil'], process.env)) await aptInstall(['libnss3-tools'], say);
    await installFonts(chrome).catch(error => say(`Fonts could not be looked for: ${error.message}`));
    return await runAll(chrome);
  } catch (error) {
    say((error as Error).message);
    return [{ code: 1, numbers: undefined }];
  }
}

const { lines, good } = closing(await run());
for (const line of lines) say(line);
process.exitCode = good ? 0 : 1;
