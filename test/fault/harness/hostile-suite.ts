// @proves neighbours
// The tests of a list of hostile pages: one test each, on an installation that is replaced when a
// page leaves something behind.
import { expect } from 'chai';
import type { HostilePage } from '../../support/pages/hostile-page.ts';
import { openRowBook, problemsOf } from './neighbour-rows.ts';
import { Neighbourhood, type NeighbourhoodOptions } from './neighbours.ts';

export interface HostileSuite extends Omit<NeighbourhoodOptions, 'pages'> {
  pages: readonly HostilePage[];
  /** Pages that trial callers send as well. They need no server. */
  byTrial?: readonly HostilePage[];
  /** The duration of a row. */
  seconds: number;
  /** `artifacts/<artifact>.json`. */
  artifact: string;
}

/** Call it inside `describe`. Ratios are only shown in the table and do not fail a test. */
export function hostileSuite({ byTrial = [], seconds, artifact, ...options }: HostileSuite): void {
  const book = openRowBook(artifact);
  let neighbourhood: Neighbourhood | undefined;
  after(async () => {
    book.print();
    await neighbourhood?.stop();
  });

  async function judge(page: HostilePage, by: 'account' | 'trial'): Promise<void> {
    neighbourhood ??= await Neighbourhood.start(options);
    const callers =
      by === 'trial' ? neighbourhood.trialCallersOf(page) : neighbourhood.callersOf(page);
    const name = by === 'trial' ? `trial: ${page.name}` : page.name;
    let clean = false;
    try {
      const row = await neighbourhood.beside(name, callers, seconds);
      const problems = problemsOf(row, page);
      book.add(row, problems);
      clean = row.left.length === 0;
      expect(problems).to.deep.equal([]);
    } finally {
      if (!clean) {
        await neighbourhood.stop();
        neighbourhood = undefined;
      }
    }
  }

  for (const page of options.pages)
    it(`fails no render of another account: ${page.name}`, () => judge(page, 'account'));
  for (const page of byTrial)
    it(`fails no render of an account when it is a trial render: ${page.name}`, () =>
      judge(page, 'trial'));
}
