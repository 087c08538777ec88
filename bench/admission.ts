// `npm run bench:admission [-- --rounds 6 --pairs 3000]`: what it costs to admit and settle a
// render, beside two plain writes, on a real mongod that shares the cores. Prints the figures;
// exits with 1 when a wanted one is missed. Ends by itself.

import { digits, spread } from './figures.ts';
import { CALLERS, type Kind, openLeases, type PairRound } from './lease-pairs.ts';
import { median } from './load.ts';
import { machineLine, readNumbers, runScript } from './script.ts';

const LIMIT_MS = 15 * 60_000;
const WARM_UP = 1_000;
/**
 * In multiples of mongod's CPU for two plain writes, since a busy or slow machine changes absolute
 * times.
 */
const WANTED = 3;

const NAMES: Record<Kind, string> = {
  many: '1,000 accounts, a key each',
  hot: 'one account, one key',
  keys: 'one account, 50 keys',
  'keys without index': 'the same without the index',
  plain: 'two plain writes, no leases',
};

const { rounds, pairs } = readNumbers({ rounds: 6, pairs: 3_000 });

await runScript(LIMIT_MS, async (atEnd, end) => {
  const leases = await openLeases(atEnd);
  console.log(`${machineLine()}; ${CALLERS} callers; ${rounds} rounds of ${pairs} pairs`);
  const kinds = Object.keys(NAMES) as Kind[];
  const measured = Object.fromEntries(kinds.map(kind => [kind, [] as PairRound[]])) as Record<
    Kind,
    PairRound[]
  >;
  for (const kind of kinds) await leases.round(kind, WARM_UP);
  for (let round = 0; round < rounds; round++) {
    // Who goes first changes, so that what the machine does meanwhile hits all alike.
    for (const kind of round % 2 === 0 ? kinds : kinds.toReversed()) {
      end.throwIfAborted();
      measured[kind].push(await leases.round(kind, pairs));
    }
  }
  const of = (kind: Kind, figure: keyof PairRound) => measured[kind].map(round => round[figure]);
  for (const kind of kinds) {
    console.log(
      `  ${NAMES[kind].padEnd(27)} ${spread(of(kind, 'perSecond'))} pairs/s   p50 ${digits(median(of(kind, 'p50Ms')))} ms   p95 ${digits(median(of(kind, 'p95Ms')))} ms   ` +
        `CPU a pair: mongod ${digits(median(of(kind, 'mongodCpuMs')))} ms, Node ${digits(median(of(kind, 'nodeCpuMs')))} ms`,
    );
  }
  const ratio = (kind: Kind, to: Kind) =>
    spread(
      measured[kind].map(({ perSecond }, round) => perSecond / measured[to][round]!.perSecond),
    );
  console.log(
    `  50 keys with the index against without it: ${ratio('keys', 'keys without index')} of the pairs a second`,
  );
  console.log(
    `  leases against plain writes: 1,000 accounts ${ratio('many', 'plain')}, one account ${ratio('hot', 'plain')}`,
  );
  const figure = (kind: 'many' | 'hot') => ({
    what: `mongod's CPU for ${NAMES[kind]}, to that for two plain writes`,
    value: median(of(kind, 'mongodCpuMs')) / median(of('plain', 'mongodCpuMs')),
    unit: 'times',
    atMost: WANTED,
  });
  return [figure('many'), figure('hot')];
});
