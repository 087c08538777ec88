// `npm run bench [-- --rounds 6 --renders 48 --callers 1,2 --documents invoice,chart --sides
// bare,pressroom]`: compares Pressroom, bare Chrome and npm packages in alternating rounds. Prints
// tables; writes artifacts/bench.json and bench.svg; exits with 1 if a target is missed.
import { mkdir, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readWorkerConfig } from '../worker/config.ts';
import { type Cell, cellsOf, readOptions, rendersOf, type SideName, turnOf } from './cells.ts';
import { chartSvg } from './chart-svg.ts';
import { spentBetween, spentBy } from './cpu.ts';
import { openDriven } from './driven.ts';
import { watchMemory } from './memory.ts';
import { startPageServer } from './page-server.ts';
import { openPressroom } from './pressroom-side.ts';
import { type Measured, type Result, type Round, summarise } from './report.ts';
import { showSummary, showVerdicts } from './show.ts';
import type { Side } from './side.ts';
import { judge } from './targets.ts';

const LIMIT_MS = 40 * 60_000;
/**
 * After its last response, a side still closes and opens contexts. That must not happen in the
 * round of another side.
 */
const SETTLE_MS = 300;
/** Renders until V8 has optimized the code that each render runs. */
const WARM_UP = { bare: 600, pressroom: 600, 'puppeteer-cluster': 8, puppeteer: 2 } as const;
/**
 * The sides warm up in turns, because some machines reclaim the memory of processes that idle for a
 * minute.
 */
const WARM_UP_TURN = 100;

const options = readOptions(process.argv.slice(2));
const cells = cellsOf(options);

const closing: (() => Promise<unknown>)[] = [];
let closed: Promise<void> | undefined;
/** Further calls wait for the same end. */
function close(): Promise<void> {
  closed ??= (async () => {
    for (const each of closing.splice(0).reverse()) await each();
  })();
  return closed;
}
const limit = setTimeout(() => {
  console.error(`the benchmark did not finish within ${LIMIT_MS / 60_000} min`);
  process.exitCode = 1;
  void close(); // running work then fails
}, LIMIT_MS);
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void close().finally(() => process.exit(1)));

async function measure(side: Side, cell: Cell): Promise<Measured> {
  const work = { ...cell, renders: rendersOf(cell, side.name, options.renders) };
  await side.prepare(work);
  const memory = watchMemory(side.roots);
  const before = spentBy(side.roots);
  try {
    const flow = await side.run(work);
    await sleep(SETTLE_MS);
    return { ...flow, spent: spentBetween(before, spentBy(side.roots)), memory: memory.stop() };
  } finally {
    memory.stop();
  }
}

async function openSides(): Promise<Map<SideName, Side>> {
  const pages = await startPageServer();
  closing.push(pages.close);
  const sides = new Map<SideName, Side>();
  const add = (side: Side) => {
    sides.set(side.name, side);
    closing.push(side.close);
  };
  for (const name of options.sides)
    add(name === 'pressroom' ? await openPressroom(pages) : await openDriven(name, pages.base));
  return sides;
}

try {
  const loadBefore = loadavg()[0]!;
  const sides = await openSides();
  const { sandbox, uid } = readWorkerConfig(process.env).chrome;
  const machine = {
    cores: availableParallelism(),
    cpu: cpus()[0]?.model,
    memoryBytes: totalmem(),
    node: process.version,
    chrome: Object.fromEntries([...sides.values()].map(({ name, version }) => [name, version])),
    sandbox,
    chromeUid: uid ?? process.getuid?.(),
    slots: sides.get('pressroom')?.slots,
    loadBefore,
  };
  const versions = [...new Set([...sides.values()].map(({ version }) => version))].join(' and ');
  console.log(
    `${machine.cores} cores (${machine.cpu}), ${versions}, sandbox ${sandbox ? 'on' : 'off'}, user ${machine.chromeUid}, Node ${machine.node}, initial load ${loadBefore.toFixed(1)}; ${options.rounds} rounds of ${options.renders} renders`,
  );
  for (let done = 0; done < Math.max(...Object.values(WARM_UP)); done += WARM_UP_TURN) {
    for (const side of sides.values()) {
      const renders = Math.min(WARM_UP_TURN, WARM_UP[side.name] - done);
      if (renders <= 0) continue;
      const work = {
        document: 'invoice',
        by: 'html',
        stamped: false,
        callers: 2,
        renders,
      } as const;
      await side.prepare(work);
      await side.run(work);
    }
  }
  const results: Result[] = [];
  for (const cell of cells) {
    const rounds: Round[] = [];
    for (let round = 0; round < cell.rounds; round++) {
      const measured: Round = {};
      for (const name of turnOf(cell, round))
        measured[name] = await measure(sides.get(name)!, cell);
      rounds.push(measured);
    }
    results.push({ cell, rounds });
    console.log(showSummary(summarise(results.at(-1)!), side => sides.get(side)!.slots).join('\n'));
  }
  const summaries = results.map(summarise);
  const verdicts = judge(summaries);
  console.log(showVerdicts(verdicts).join('\n'));
  const folder = join(import.meta.dirname, '../artifacts');
  await mkdir(folder, { recursive: true });
  const at = new Date().toISOString();
  await writeFile(
    join(folder, 'bench.json'),
    `${JSON.stringify({ at, machine, options, verdicts, summaries, results }, null, 1)}\n`,
  );
  await writeFile(
    join(folder, 'bench.svg'),
    chartSvg(
      summaries,
      `${machine.cores} cores, ${versions}, Node ${machine.node}, ${at.slice(0, 10)}`,
    ),
  );
  if (verdicts.some(({ met }) => met === false)) process.exitCode = 1;
} finally {
  clearTimeout(limit);
  await close();
}
