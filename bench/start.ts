// `npm run bench:start [-- --rounds 10]`: from `npm start` to ready when all that it needs is
// there, and the first render after it. Prints the figures; exits with 1 when a wanted one is
// missed. Ends by itself.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spread } from './figures.ts';
import { median } from './load.ts';
import { machineLine, readNumbers, runScript } from './script.ts';
import { type Started, startWith } from './warm-start.ts';

const LIMIT_MS = 10 * 60_000;
const WANTED_MS = { ready: 1_500, firstRender: 300 };

const { rounds } = readNumbers({ rounds: 10 });

await runScript(LIMIT_MS, async (atEnd, end) => {
  const folder = await mkdtemp(join(tmpdir(), 'pressroom-bench-'));
  atEnd(() => rm(folder, { recursive: true, force: true }));
  console.log(`${machineLine()}; ${rounds} starts`);

  /**
   * Once for the account and its key, and once more so that the data folder is one that a whole run
   * has left.
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
    `  from npm start to ready    ${spread(of('readyMs'))} ms, of it in Pressroom's own process ${spread(of('ownMs'))} ms`,
  );
  console.log(
    `  the first render after it  ${spread(of('firstRenderMs'))} ms, the next ${spread(of('nextRenderMs'))} ms`,
  );
  return [
    {
      what: 'from npm start to ready',
      value: median(of('readyMs')),
      unit: 'ms',
      atMost: WANTED_MS.ready,
    },
    {
      what: 'the first render after it',
      value: median(of('firstRenderMs')),
      unit: 'ms',
      atMost: WANTED_MS.firstRender,
    },
  ];
});
