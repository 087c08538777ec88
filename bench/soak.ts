// `npm run soak [-- --renders 20000 --callers 4]`: measures whether memory grows with the number of
// renders. PRESSROOM_RENDERER_REUSE applies. 20,000 renders take 15 minutes on two idle cores.
// Prints the figures; exits with 1 if a target is missed.
import { Agent } from 'node:http';
import { startDeployment } from '../test/fault/harness/deployment.ts';
import { renderCall } from '../test/support/http-call.ts';
import { document } from './customers.ts';
import { digits, slopePerThousand } from './figures.ts';
import { load } from './load.ts';
import { createMemoryLog, type Sample } from './memory-log.ts';
import { machineLine, readNumbers, runScript, USUAL } from './script.ts';
import { mustBePdf } from './service.ts';

/** Allows for a machine of half the speed. */
const LIMIT_MS = 60 * 60_000;
const MANY = { callers: 32, renders: 640 };
/** The concurrency limit of the largest built-in plan is eight. */
const CALLERS_OF_A_PLAN = 8;
const LINES = 20;
/**
 * In MB. The slope is per 1,000 renders over the second half; pools and caches fill in the first.
 */
const TARGETS = { slope: 0.5, api: 150, worker: 120 };

const reuse = process.env['PRESSROOM_RENDERER_REUSE'];
const api = { ...USUAL, ...(reuse !== undefined && { PRESSROOM_RENDERER_REUSE: reuse }) };
const { renders, callers, slots } = readNumbers({ renders: 20_000, callers: 4, slots: 2 });

interface Callers {
  port: number;
  keys: readonly string[];
  agent: Agent;
  end: AbortSignal;
  onRendered(): void;
}

/** Distributes the renders over the callers. */
async function renderMany(
  { port, keys, agent, end, onRendered }: Callers,
  count: number,
  parallel: number,
): Promise<{ perSecond: number; slowest: { tookMs: number; timings: string } }> {
  const share = Math.ceil(count / parallel);
  let slowest = { tookMs: 0, timings: '' };
  const caller = (key: string) =>
    load(share, 1, async nth => {
      end.throwIfAborted();
      const beganMs = performance.now();
      const body = { html: document(nth) };
      const answer = await renderCall(port, key, body, {}, agent);
      const timings = String(answer.headers['server-timing']);
      mustBePdf(answer);
      const tookMs = performance.now() - beganMs;
      if (tookMs > slowest.tookMs) slowest = { tookMs, timings };
      onRendered();
    });
  const began = performance.now();
  await Promise.all(
    Array.from({ length: parallel }, (_, nth) =>
      caller(keys[Math.floor(nth / CALLERS_OF_A_PLAN)]!),
    ),
  );
  return { perSecond: (share * parallel * 1_000) / (performance.now() - began), slowest };
}

await runScript(LIMIT_MS, async (atEnd, end) => {
  const target = await startDeployment({ apis: 1, workers: 1, slots, api, worker: USUAL });
  atEnd(target.stop);
  const agent = new Agent({ keepAlive: true });
  atEnd(async () => agent.destroy());
  const keys: string[] = [];
  while (keys.length * CALLERS_OF_A_PLAN < Math.max(callers, MANY.callers))
    keys.push((await target.account()).key);
  const { port, process: apiProcess } = target.apis[0]!;
  const log = createMemoryLog({ api: apiProcess.pid, worker: target.workers[0]!.process.pid });

  const soak = (count: number, parallel: number) =>
    renderMany({ port, keys, agent, end, onRendered: log.rendered }, count, parallel);

  console.log(
    `${machineLine()}; ${slots} slots; ${renders} renders of the invoice by ${callers} callers, then ${MANY.renders} by ${MANY.callers}`,
  );
  const report = ({ renders: done, apiMb, workerMb, chromeMb }: Sample) =>
    console.log(
      `  ${String(done).padStart(7)} renders   API ${digits(apiMb)} MB   worker ${digits(workerMb)} MB   Chrome ${digits(chromeMb)} MB`,
    );
  log.every(
    Math.max(1, Math.round(renders / 200)),
    Math.max(1, Math.round(renders / LINES)),
    report,
  );
  const soaked = await soak(renders, callers);
  console.log(`  slowest render: ${digits(soaked.slowest.tookMs)} ms (${soaked.slowest.timings})`);
  const half = log.samples().filter(sample => sample.renders >= renders / 2);
  const before = log.samples().length;
  log.every(MANY.callers / 4, MANY.renders / 2, report);
  const manyCallers = await soak(MANY.renders, MANY.callers);

  const most = (of: keyof Sample, from = 0) =>
    Math.max(
      ...log
        .samples()
        .slice(from)
        .map(sample => sample[of]),
    );
  const slope = (of: keyof Sample) =>
    slopePerThousand(half.map(sample => ({ x: sample.renders, y: sample[of] })));
  console.log(
    `  ${soaked.perSecond.toFixed(1)}/s at ${callers}, ${manyCallers.perSecond.toFixed(1)}/s at ${MANY.callers} callers`,
  );
  console.log(
    `  Chrome (all processes, without file pages): peak ${digits(most('chromeMb'))} MB, growth ${digits(slope('chromeMb'))} MB per 1,000 renders`,
  );
  const unit = 'MB';
  return [
    {
      what: 'memory growth of the API per 1,000 renders',
      value: slope('apiMb'),
      unit,
      atMost: TARGETS.slope,
    },
    {
      what: 'memory growth of the worker process per 1,000 renders',
      value: slope('workerMb'),
      unit,
      atMost: TARGETS.slope,
    },
    {
      what: `peak memory of the API at ${MANY.callers} callers`,
      value: most('apiMb', before),
      unit,
      atMost: TARGETS.api,
    },
    {
      what: 'peak memory of the worker process, whole run',
      value: most('workerMb'),
      unit,
      atMost: TARGETS.worker,
    },
  ];
});
