// `npm test`: gets what the tests need (Chrome, mongod, tools of poppler and NSS), runs mocha, and closes with one plain line. Arguments go to mocha: `npm test -- FILE -g TITLE`.
import { spawn } from 'node:child_process';
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

async function runMocha(chrome: string): Promise<{ code: number; numbers: RunNumbers | undefined }> {
  const child = spawn(
    process.execPath,
    [path('../node_modules/mocha/bin/mocha.js'), '--exit', '--reporter', path('support/reporter.ts'), ...process.argv.slice(2)],
    { cwd: path('..'), stdio: ['ignore', 'inherit', 'inherit', 'ipc'], env: { ...process.env, PRESSROOM_CHROME: chrome } },
  );
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

/** The last line. A run that broke off counts as one more failure: its other tests never had their say. */
export function lastLine({ code, numbers }: { code: number; numbers: RunNumbers | undefined }): { line: string; good: boolean } {
  const { passed, failed, skipped } = numbers ?? { passed: 0, failed: 0, skipped: 0 };
  const brokeOff = failed === 0 && (code !== 0 || passed === 0);
  const failures = failed + (brokeOff ? 1 : 0);
  return { line: `${passed} passed, ${failures} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`, good: failures === 0 };
}

/** Tests of scripts whose fonts are missing all the same skip themselves. */
async function installFonts(executable: string): Promise<void> {
  const missing = await scriptsWithoutFont({ ...readWorkerConfig(process.env).chrome, executable });
  const packages = new Set(missing.map(({ fontPackage }) => fontPackage));
  if (packages.size > 0) await aptInstall([...packages], say);
}

async function run(): Promise<{ code: number; numbers: RunNumbers | undefined }> {
  try {
    const chrome = await (await prepareChrome(process.env, say, readWorkerConfig(process.env).chrome))();
    await findOrInstallMongod(process.env, say);
    await buildDashboard(say);
    buildAhead();
    if (!findOnPath(['pdftotext'], process.env)) await aptInstall(['poppler-utils'], say);
    if (!findOnPath(['certutil'], process.env)) await aptInstall(['libnss3-tools'], say);
    await installFonts(chrome).catch(error => say(`Fonts could not be looked for: ${error.message}`));
    return await runMocha(chrome);
  } catch (error) {
    say((error as Error).message);
    return { code: 1, numbers: undefined };
  }
}

const { line, good } = lastLine(await run());
say(line);
process.exitCode = good ? 0 : 1;
