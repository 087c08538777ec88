// `npm run bench:admission [-- --rounds 6 --pairs 3000]`: measures admission and settlement against
// two plain writes, on a real mongod on the same machine. Prints the figures; exits with 1 if a
// target is missed.

import { alternate } from './beside.ts';
import { digits, spread } from './figures.ts';
import { CALLERS, type Kind, openLeases, type PairRound } from './lease-pairs.ts';
import { median } from './load.ts';
import { machineLine, readNumbers, runScript } from './script.ts';

const LIMIT_MS = 15 * 60_000;
const WARM_UP = 1_000;
/**
 * A multiple of mongod's CPU time for two plain writes, because absolute times depend on the
 * machine.
 */
const TARGET = 3;

const NAMES: Record<Kind, string> = {
  many: '1,000 accounts, a key each',
  hot: 'one account, one key',
  keys: 'one account, 50 keys',
  'keys without index': 'one account, 50 keys, no index',
  plain: 'two plain writes',
};

const { rounds, pairs } = readNumbers({ rounds: 6, pairs: 3_000 });

await runScript(LIMIT_MS, async (atEnd, end) => {
  const pairsOf = await openLeases(atEnd);
  console.log(`${machineLine()}; ${CALLERS} callers; ${rounds} rounds of ${pairs} pairs`);
  const kinds = Object.keys(NAMES) as Kind[];
  for (const kind of kinds) await pairsOf(kind, WARM_UP);
  const measure = (kind: Kind) => async () => {
    end.throwIfAborted();
    return pairsOf(kind, pairs);
  };
  const sides = Object.fromEntries(kinds.map(kind => [kind, measure(kind)]));
  const measured = await alternate(rounds, sides as Record<Kind, () => Promise<PairRound>>);
  const of = (kind: Kind, figure: keyof PairRound) => measured[kind].map(round => round[figure]);
  for (const kind of kinds) {
    console.log(
      `  ${NAMES[kind].padEnd(27)} ${spread(of(kind, 'perSecond'))} pairs/s   p50 ${digits(median(of(kind, 'p50Ms')))} ms   p95 ${digits(median(of(kind, 'p95Ms')))} ms   ` +
        `CPU per pair: mongod ${digits(median(of(kind, 'mongodCpuMs')))} ms, Node ${digits(median(of(kind, 'nodeCpuMs')))} ms`,
    );
  }
  const ratio = (kind: Kind, to: Kind) =>
    spread(
      measured[kind].map(({ perSecond }, round) => perSecond / measured[to][round]!.perSecond),
    );
  console.log(
    `  throughput with 50 keys, with index vs. without: ${ratio('keys', 'keys without index')}`,
  );
  console.log(
    `  throughput of leases vs. plain writes: 1,000 accounts ${ratio('many', 'plain')}, one account ${ratio('hot', 'plain')}`,
  );
  const figure = (kind: 'many' | 'hot') => ({
    what: `mongod CPU for ${NAMES[kind]}, relative to two plain writes`,
    value: median(of(kind, 'mongodCpuMs')) / median(of('plain', 'mongodCpuMs')),
    unit: 'times',
    atMost: TARGET,
  });
  return [figure('many'), figure('hot')];
});
