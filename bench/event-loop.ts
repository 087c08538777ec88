// `npm run bench:loop [-- --rounds 4 --renders 6]`: measures how long large bodies, large PDFs and
// watermarks block the event loop of the API. Prints the figures; exits with 1 if a target is
// missed.
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startDeployment } from '../test/fault/harness/deployment.ts';
import { renderCall } from '../test/support/http-call.ts';
import { digits, spread } from './figures.ts';
import { largeBody, noisePages, tablePages } from './heavy-requests.ts';
import { load, median } from './load.ts';
import { askProbe, PROBE_SOCKET, type Probed } from './probed.ts';
import { machineLine, readNumbers, runScript, USUAL } from './script.ts';

const LIMIT_MS = 20 * 60_000;
const CALLERS = 2;
const IDLE_MS = 3_000;
const MB = 1e6;
/** Target for the longest uninterrupted work on the event loop, by body size. */
const TARGETS_MS = { usual: 10, large: 60 };

const { rounds, renders } = readNumbers({ rounds: 4, renders: 6 });

const bodies: Record<string, { bodies: string[]; atMost: number }> = {
  'bodies of 1 MB': { bodies: [largeBody(MB), largeBody(MB, true)], atMost: TARGETS_MS.usual },
  'PDFs of 30 MB': { bodies: [noisePages([2_200, 2_200])], atMost: TARGETS_MS.usual },
  'PDFs of 30 MB with a watermark': {
    bodies: [noisePages([2_200, 2_200], { sandbox: true })],
    atMost: TARGETS_MS.usual,
  },
  '300 pages with a watermark': {
    bodies: [tablePages(300, { sandbox: true })],
    atMost: TARGETS_MS.usual,
  },
  'bodies of 10 MB': {
    bodies: [largeBody(10 * MB), largeBody(10 * MB, true)],
    atMost: TARGETS_MS.large,
  },
};

await runScript(LIMIT_MS, async (atEnd, end) => {
  const folder = await mkdtemp(join(tmpdir(), 'pressroom-bench-'));
  atEnd(() => rm(folder, { recursive: true, force: true }));
  const socket = join(folder, 'probe');
  const probe = new URL('event-loop-probe.ts', import.meta.url).href;
  const deployment = await startDeployment({
    apis: 1,
    workers: 1,
    api: { NODE_OPTIONS: `--import=${probe}`, [PROBE_SOCKET]: socket, ...USUAL },
    worker: USUAL,
  });
  atEnd(deployment.stop);
  const agent = new Agent({ keepAlive: true });
  atEnd(async () => agent.destroy());
  const { key } = await deployment.account();
  const { port } = deployment.apis[0]!;
  console.log(
    `${machineLine()}; ${CALLERS} callers; ${rounds} rounds of ${renders} renders, and ${IDLE_MS / 1_000} s idle`,
  );

  const sizes = new Map<string, number>();
  async function rendering(name: string, count: number): Promise<void> {
    const { bodies: texts } = bodies[name]!;
    await load(count, CALLERS, async nth => {
      const { status, body } = await renderCall(port, key, texts[nth % texts.length]!, {}, agent);
      if (status !== 200) throw new Error(`${name}: ${status} ${body}`);
      sizes.set(name, body.length);
    });
  }
  const phases: [string, () => Promise<unknown>][] = [
    ['idle', () => sleep(IDLE_MS)],
    ...Object.keys(bodies).map(
      name => [name, () => rendering(name, renders)] as [string, () => Promise<unknown>],
    ),
  ];
  for (const name of Object.keys(bodies)) await rendering(name, CALLERS);
  const probed = new Map(phases.map(([name]) => [name, [] as Probed[]]));
  for (let round = 0; round < rounds; round++)
    for (const [name, phase] of phases) {
      end.throwIfAborted();
      await askProbe(socket);
      await phase();
      probed.get(name)!.push(await askProbe(socket));
    }
  for (const [name, of] of probed) {
    const size = sizes.has(name) ? ` (PDF of ${digits(sizes.get(name)! / MB)} MB)` : '';
    const held = (each: Probed['work'][]) =>
      `longest ${spread(each.map(({ maxMs }) => maxMs))} ms, p99.9 ${digits(median(each.map(({ p999Ms }) => p999Ms)))} ms`;
    console.log(`  ${name}${size}`);
    console.log(
      `    own work           ${held(of.map(({ work }) => work))}; longest garbage collection ${spread(of.map(({ longestGcMs }) => longestGcMs))} ms`,
    );
    console.log(`    timer delay        ${held(of.map(({ delay }) => delay))}`);
  }
  return Object.entries(bodies).map(([name, { atMost }]) => ({
    what: `longest uninterrupted work, ${name}`,
    value: Math.max(...probed.get(name)!.map(({ work }) => work.maxMs)),
    unit: 'ms',
    atMost,
  }));
});
