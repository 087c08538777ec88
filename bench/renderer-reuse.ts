// `npm run bench:reuse [-- --rounds 15 --renders 48]`: compares renders with PRESSROOM_RENDERER_REUSE
// on and off, in alternating rounds. Prints the ratios; exits with 1 if a target is missed.
import { alternate } from './beside.ts';
import { documents } from './documents.ts';
import { type Figure, spread } from './figures.ts';
import { median } from './load.ts';
import { startPageServer } from './page-server.ts';
import { openPressroom } from './pressroom-side.ts';
import { machineLine, readNumbers, runScript } from './script.ts';
import type { Side, Work } from './side.ts';

const LIMIT_MS = 40 * 60_000;
const WARM_UP = 200;
const ACCOUNTS = 20;
const SWITCHES = ['on', 'off'] as const;
type Switch = (typeof SWITCHES)[number];

const { rounds, renders, callers } = readNumbers({ rounds: 15, renders: 48, callers: 4 });

interface Comparison {
  what: string;
  work: Pick<Work, 'document' | 'by' | 'accounts'>;
  /** Of the throughput with reuse, as a multiple of that without. */
  target: { atLeast: number };
}

/** Within five percent of today's throughput counts as unchanged. */
const UNCHANGED = { atLeast: 0.95 };
const COMPARISONS: Comparison[] = [
  {
    what: 'static invoice, one account',
    work: { document: 'invoice', by: 'html' },
    target: { atLeast: 1.5 },
  },
  {
    what: `static invoice, ${ACCOUNTS} accounts at random`,
    work: { document: 'invoice', by: 'html', accounts: ACCOUNTS },
    target: UNCHANGED,
  },
  {
    what: 'invoice by url',
    work: { document: 'invoice', by: 'url' },
    target: UNCHANGED,
  },
  {
    what: 'chart with scripts',
    work: { document: 'chart', by: 'html' },
    target: UNCHANGED,
  },
];

await runScript(LIMIT_MS, async (atEnd, end) => {
  const pages = await startPageServer();
  atEnd(pages.close);
  const sides = {} as Record<Switch, Side>;
  for (const value of SWITCHES) {
    sides[value] = await openPressroom(pages, { PRESSROOM_RENDERER_REUSE: value });
    atEnd(sides[value].close);
  }

  async function perSecond(side: Side, { work }: Comparison, count: number): Promise<number> {
    end.throwIfAborted();
    const share = Math.ceil(count * documents[work.document].share);
    const whole = { ...work, callers, stamped: false, renders: share };
    await side.prepare(whole);
    return (await side.run(whole)).perSecond;
  }

  console.log(
    `${machineLine()}; ${rounds} alternating rounds of ${renders} renders, ${callers} callers`,
  );
  const figures: Figure[] = [];
  for (const comparison of COMPARISONS) {
    const { what, target } = comparison;
    for (const side of Object.values(sides)) await perSecond(side, comparison, WARM_UP);
    const measure = (value: Switch) => () => perSecond(sides[value], comparison, renders);
    const rates = await alternate(rounds, { on: measure('on'), off: measure('off') });
    const ratios = rates.on.map((rate, round) => rate / rates.off[round]!);
    console.log(
      `  ${what}: ${spread(rates.on)} renders/s with reuse, ${spread(rates.off)} without, ratio ${spread(ratios)}`,
    );
    figures.push({ what: `throughput, ${what}`, value: median(ratios), unit: 'times', ...target });
  }
  return figures;
});
