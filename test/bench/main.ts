// `npm run bench [-- --rounds 8 --renders 24]`: the 40-row invoice through the whole service and through bare Chrome, in alternating rounds of one run.
// Prints and writes artifacts/bench.json; exits with 1 when a wanted figure is missed. Ends by itself.
import { mkdir, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openBareChrome } from './bare-chrome.ts';
import { cpuBetween, cpuOf } from './cpu.ts';
import { invoice } from './invoice.ts';
import { load } from './load.ts';
import { type Level, type Measured, missed, type Pair, show, summarise } from './report.ts';
import { startService } from './service.ts';

const LIMIT_MS = 15 * 60_000;
const PARALLEL = [1, 2, 4];
const WARM_UP = 30;

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '8' }, renders: { type: 'string', default: '24' } } });
const [rounds, renders] = [Number(values.rounds), Number(values.renders)];
if (![rounds, renders].every(n => Number.isInteger(n) && n > 0 && n <= 10_000))
  throw new Error('--rounds and --renders are whole numbers from 1 to 10000');

// Written before, so that making them is no part of either side.
const documents = Array.from({ length: renders }, (_, nth) => invoice(nth + 1));

async function measure(parallel: number, pid: number, render: (html: string) => Promise<unknown>): Promise<Measured> {
  const before = cpuOf(pid);
  const own = process.cpuUsage();
  const round = await load(renders, parallel, async nth => {
    await render(documents[nth]!);
  });
  const { user, system } = process.cpuUsage(own);
  return { ...round, cpuMs: cpuBetween(before, cpuOf(pid), renders), benchCpuMs: (user + system) / 1_000 / renders };
}

const closing: (() => Promise<void>)[] = [];
async function close(): Promise<void> {
  for (const each of closing.splice(0).reverse()) await each();
}
const limit = setTimeout(() => {
  console.error(`the bench did not end within ${LIMIT_MS / 60_000} min`);
  process.exitCode = 1;
  void close(); // what runs then fails
}, LIMIT_MS);

try {
  const bare = await openBareChrome(process.env);
  closing.push(bare.close);
  const service = await startService();
  closing.push(service.close);
  const machine = {
    cores: availableParallelism(),
    cpu: cpus()[0]?.model,
    memoryBytes: totalmem(),
    node: process.version,
    chrome: bare.version,
    loadBefore: loadavg()[0],
  };
  console.log(
    `${machine.cores} cores (${machine.cpu}), ${machine.chrome}, Node ${machine.node}, load ${machine.loadBefore?.toFixed(1)}; ${rounds} rounds of ${renders}`,
  );
  await load(WARM_UP, 2, async nth => void (await service.render(documents[nth % renders]!)));
  await load(WARM_UP, 2, async nth => void (await bare.render(documents[nth % renders]!)));
  const levels: Level[] = [];
  for (const parallel of PARALLEL) {
    const pairs: Pair[] = [];
    for (let round = 0; round < rounds; round++) {
      const sides = {
        service: () => measure(parallel, service.pid, service.render),
        bare: () => measure(parallel, bare.pid, bare.render),
      };
      // Who goes first changes, so that what the machine does meanwhile hits both alike.
      const [first, second] = round % 2 === 0 ? (['service', 'bare'] as const) : (['bare', 'service'] as const);
      const measured = { [first]: await sides[first](), [second]: await sides[second]() };
      pairs.push(measured as unknown as Pair);
    }
    levels.push({ parallel, rounds: pairs });
    console.log(show(summarise(levels.at(-1)!)).join('\n'));
  }
  const { timings, pdf } = await service.render(documents[0]!);
  console.log(`one render alone: ${timings}; ${pdf.length} bytes`);
  const summaries = levels.map(summarise);
  const misses = missed(summaries);
  console.log(misses.length > 0 ? `MISSED: ${misses.join('; ')}` : 'All wanted figures are met.');
  const folder = join(import.meta.dirname, '../../artifacts');
  await mkdir(folder, { recursive: true });
  await writeFile(
    join(folder, 'bench.json'),
    `${JSON.stringify({ at: new Date().toISOString(), machine, summaries, levels, misses }, null, 2)}\n`,
  );
  if (misses.length > 0) process.exitCode = 1;
} finally {
  clearTimeout(limit);
  await close();
}
