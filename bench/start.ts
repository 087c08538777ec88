// `npm run bench:start [-- --rounds 10]`: measures the time from `npm start` to ready with
// everything installed, and the first render. Prints the figures; exits with 1 if a target is
// missed.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spread } from './figures.ts';
import { median } from './load.ts';
import { machineLine, readNumbers, runScript } from './script.ts';
import { type Started, startWith } from './warm-start.ts';

const LIMIT_MS = 10 * 60_000;
const TARGETS_MS = { ready: 1_500, firstRender: 300 };

const { rounds } = readNumbers({ rounds: 10 });

await runScript(LIMIT_MS, async (atEnd, end) => {
  const folder = await mkdtemp(join(tmpdir(), 'pressroom-bench-'));
  atEnd(() => rm(folder, { recursive: true, force: true }));
  console.log(`${machineLine()}; ${rounds} starts`);

  /**
   * One start creates the account and its key; another leaves the data folder as after a complete
   * run.
   */
  const first = await startWith(folder, atEnd);
  await first.stop();
  const key = first.key!;
  const warm = await startWith(folder, atEnd);
  await warm.renderMs(key);
  await warm.stop();

  const starts: (Pick<Started, 'readyMs' | 'ownMs'> & {
    firstRenderMs: number;
    nextRenderMs: number;
  })[] = [];
  for (let round = 0; round < rounds; round++) {
    end.throwIfAborted();
    const started = await startWith(folder, atEnd);
    starts.push({
      ...started,
      firstRenderMs: await started.renderMs(key),
      nextRenderMs: await started.renderMs(key),
    });
    await started.stop();
  }
  const of = (figure: keyof (typeof starts)[number]) => starts.map(start => start[figure]);
  console.log(
    `  from npm start to ready    ${spread(of('readyMs'))} ms, of which ${spread(of('ownMs'))} ms in the Pressroom process`,
  );
  console.log(
    `  first render               ${spread(of('firstRenderMs'))} ms, second render ${spread(of('nextRenderMs'))} ms`,
  );
  return [
    {
      what: 'from npm start to ready',
      value: median(of('readyMs')),
      unit: 'ms',
      atMost: TARGETS_MS.ready,
    },
    {
      what: 'first render',
      value: median(of('firstRenderMs')),
      unit: 'ms',
      atMost: TARGETS_MS.firstRender,
    },
  ];
});
