// Checks the rows of hostile neighbours, prints them as a table and writes them to artifacts/.
import { mkdirSync, writeFileSync } from 'node:fs';
import type { HostilePage, Outcome } from '../../support/pages/hostile-page.ts';
import { DISCONNECTED, type Ends, type Row } from './neighbours.ts';

const ARTIFACTS = new URL('../../../artifacts/', import.meta.url);

const textOf = (ends: Ends) =>
  Object.entries(ends)
    .map(([end, count]) => `${count} ${end}`)
    .join(', ') || 'none';

/** A page that reached a bound has run, however short its life. */
const metBound = ({ ends }: Row['hostile']) => 'page_crash' in ends || 'output_limit' in ends;

/** Why the row is invalid: the page used less than it should and reached no bound. */
function emptiness(row: Row, takes: HostilePage['takes']): string[] {
  if (metBound(row.hostile)) return [];
  return Object.entries(takes).flatMap(([what, least]) => {
    const took = row.took[what as keyof Row['took']];
    return took < least
      ? [`the page attacks nothing: ${what} ${took.toFixed(1)}, at least ${least}`]
      : [];
  });
}

const innocentProblems = ({ innocent }: Row): string[] =>
  Object.keys(innocent.failed).length === 0
    ? []
    : [`innocent calls failed: ${textOf(innocent.failed)} of ${innocent.calls}`];

/**
 * The problems of a row of a page. A call without a response within its wait and two renders counts
 * as failed.
 */
export function problemsOf(row: Row, page: HostilePage): string[] {
  const accepted: readonly string[] = [...page.outcomes, DISCONNECTED] satisfies (
    | Outcome
    | typeof DISCONNECTED
  )[];
  const wrong = Object.entries(row.hostile.ends).filter(([end]) => !accepted.includes(end));
  const wrongly =
    wrong.length > 0 ? [`hostile calls ended as ${textOf(Object.fromEntries(wrong))}`] : [];
  return [...innocentProblems(row), ...wrongly, ...row.left, ...emptiness(row, page.takes)];
}

/** The problems of a row of callers that render nothing, or nothing unusual. */
export const problemsOfCallers = (row: Row): string[] => [...innocentProblems(row), ...row.left];

const cell = (row: Row, problems: readonly string[]): string[] => [
  row.name,
  `${row.innocent.calls}, ${textOf(row.innocent.failed)}`,
  `${row.innocent.p50Ms.toFixed(0)} / ${row.innocent.p95Ms.toFixed(0)}`,
  row.ratio.toFixed(2),
  textOf(row.hostile.ends),
  row.hostile.longestMs.toFixed(0),
  `${row.took.cpuS.toFixed(1)} s, ${row.took.memoryMib.toFixed(0)} MiB, ${row.took.processes} p, ${row.took.threads} t, ${row.took.requests} r`,
  textOf(row.chromeEnds),
  problems.length === 0 ? 'ok' : problems.join('; '),
];
const HEAD = [
  'neighbour',
  'innocent calls, failed',
  'p50 / p95 ms',
  'ratio',
  'hostile ends',
  'longest ms',
  'took',
  'Chrome ends',
  'verdict',
];

export interface RowBook {
  add(row: Row, problems: readonly string[]): void;
  /** Prints the table. `artifacts/<name>.json` contains the rows so far. */
  print(): void;
}

export function openRowBook(name: string): RowBook {
  const rows: { row: Row; problems: readonly string[] }[] = [];
  return {
    add: (row, problems) => {
      rows.push({ row, problems });
      mkdirSync(ARTIFACTS, { recursive: true });
      const text = JSON.stringify(
        rows.map(each => ({ ...each.row, problems: each.problems })),
        undefined,
        2,
      );
      writeFileSync(new URL(`${name}.json`, ARTIFACTS), `${text}\n`);
    },
    print: () => {
      const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
      console.log(
        [
          line(HEAD),
          line(HEAD.map(() => '---')),
          ...rows.map(each => line(cell(each.row, each.problems))),
        ].join('\n'),
      );
    },
  };
}
