// The story that scenarios of a broken Chrome have in common: a page is alive on one worker and small renders run on both, something happens to that worker's
// Chrome, and then it is seen what became of the page, of the others, and of the processes.
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import type { Answer } from '../../support/http-call.ts';
import { type ChromeProcess, chromeProcesses, stillAlive } from './chrome-processes.ts';
import { type HeldPage, holdPage } from './held-page.ts';
import { failuresOf, type Load, startLoad } from './load.ts';
import { quiet } from './quiet.ts';
import type { ApiSeat, Site, SiteAccount } from './site.ts';
import { chromeLives } from './worker-look.ts';

export const SMALL = { html: '<p>x</p>' };

export interface StruckWorker {
  page: HeldPage;
  load: Load;
  /** Stops the load and begins another. */
  loadAgain(): Promise<void>;
  /** The page came up again elsewhere, once, and is delivered and counted once. */
  renderedElsewhere(): Promise<void>;
  /** The page is delivered where it was, by the same Chrome. */
  goesOn(): Promise<void>;
  /** The page is refused as its own fault, for this reason, is not counted, and cost nobody his Chrome. */
  refused(reason: string): Promise<string>;
  /** One more Chrome died, for one of these reasons, one was started in its place, and nothing of the old one is left. */
  chromeDied(...reasons: string[]): Promise<void>;
  /** None of the small renders failed, each is counted, the API's numbers say what the callers saw, the other worker has the Chrome that it had, and nothing is held. */
  end(): Promise<void>;
  /** Lets go of everything, whatever happened. */
  clear(): Promise<void>;
}

const apiMetrics = (site: Site) => Promise.all(site.apis.map(api => api.process.metrics()));
const retries = async (site: Site) => (await apiMetrics(site)).reduce((sum, each) => sum + each.sum('pressroom_render_retries_total'), 0);

/** What the API processes together say of renders by how they ended, without those of which there were none. */
async function outcomes(site: Site): Promise<Record<string, number>> {
  const sums: Record<string, number> = {};
  for (const metrics of await apiMetrics(site))
    for (const [outcome, times] of Object.entries(metrics.by('pressroom_renders_total', 'outcome')))
      if (times > 0) sums[outcome] = (sums[outcome] ?? 0) + times;
  return sums;
}

/** Begins the story at a site of two workers at rest. `first` is html before the page's own; `api` renders it; `small` is what the crowd sends. */
export async function strikeable(
  site: Site,
  crowd: SiteAccount,
  { small = SMALL, ...options }: { small?: object; first?: string; api?: ApiSeat } = {},
): Promise<StruckWorker> {
  const page = await holdPage(site, options);
  const { worker, account } = page;
  const processes: ChromeProcess[] = chromeProcesses(worker.process.pid);
  const lives = async () => ({ struck: await chromeLives(worker), other: await chromeLives(page.others[0]!) });
  const before = await lives();
  const retriesBefore = await retries(site);
  const start = () => startLoad(3, () => site.render(crowd, small));
  const countedBefore = await crowd.usage();
  const outcomesBefore = await outcomes(site);
  const earlier: (Answer | Error)[] = [];
  let load = start();
  await load.until(5);

  const asBefore = async () => expect((await lives()).struck).to.deep.equal(before.struck);
  return {
    page,
    get load() {
      return load;
    },
    loadAgain: async () => {
      earlier.push(...(await load.stop()));
      load = start();
    },
    renderedElsewhere: async () => {
      await site.witness.until(account.id, 0);
      await site.witness.until(account.id, 1);
      site.witness.release(account.id);
      expect((await page.answer).status).to.equal(200);
      expect(site.witness.calls(page.name)).to.equal(2);
      expect(site.witness.most(account.id)).to.equal(1);
      expect(await account.usage()).to.equal(1);
      expect(await retries(site)).to.be.greaterThan(retriesBefore);
    },
    goesOn: async () => {
      site.witness.release(account.id);
      expect((await page.answer).status).to.equal(200);
      expect(site.witness.calls(page.name)).to.equal(1);
      expect(await account.usage()).to.equal(1);
      await asBefore();
    },
    refused: async reason => {
      const answer = await page.answer;
      expect(answer.status).to.equal(502);
      expect(answer.error()).to.include({ code: 'render_failed', reason });
      expect(await account.usage()).to.equal(0);
      await asBefore();
      return answer.error().message;
    },
    chromeDied: async (...reasons) => {
      const { starts, deaths } = before.struck;
      await eventually(async () => {
        const { struck } = await lives();
        expect(struck.starts).to.deep.equal({ ...starts, died: (starts['died'] ?? 0) + 1 });
        const more = Object.keys(struck.deaths).filter(reason => struck.deaths[reason] !== deaths[reason]);
        expect(reasons).to.include.members(more);
        expect(more.map(reason => struck.deaths[reason]! - (deaths[reason] ?? 0))).to.deep.equal([1]);
      });
      await eventually(() => expect(stillAlive(processes)).to.deep.equal([]));
    },
    end: async () => {
      const answers = [...earlier, ...(await load.stop())];
      expect(failuresOf(answers)).to.deep.equal([]);
      expect((await crowd.usage()) - countedBefore).to.equal(answers.length);
      const expected = { ...outcomesBefore };
      for (const answer of [...answers, await page.answer] as Answer[]) {
        const outcome = answer.status === 200 ? 'ok' : answer.error().reason!;
        expected[outcome] = (expected[outcome] ?? 0) + 1;
      }
      expect(await outcomes(site)).to.deep.equal(expected);
      await worker.process.untilReady();
      expect((await lives()).other).to.deep.equal(before.other);
      await quiet(site);
    },
    clear: async () => {
      site.witness.release(account.id);
      await Promise.all([load.stop(), page.answer]);
    },
  };
}
