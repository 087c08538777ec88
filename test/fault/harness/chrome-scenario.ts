// The common part of scenarios with a broken Chrome: a page renders in one slot and small renders
// run in all others. After a fault in one slot's Chrome, checks the page, the others and the
// processes.
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import type { Answer } from '../../support/http-call.ts';
import { type ChromeProcess, chromeProcesses, stillAlive } from './chrome-processes.ts';
import type { ApiReplica, Deployment, DeploymentAccount, Replica } from './deployment.ts';
import { type HeldPage, holdPage } from './held-page.ts';
import { failuresOf, type Load, startLoad } from './load.ts';
import { quiet } from './quiet.ts';
import { chromeLives, type Lives, slotChromes } from './worker-look.ts';

export const SMALL = { html: '<p>x</p>' };

export interface ChromeScenario {
  page: HeldPage;
  /** The other slot of the page's worker. */
  neighbour: { slot: number; browser: number };
  load: Load;
  /** Starts the load again after it was stopped. */
  restartLoad(): Promise<void>;
  /**
   * The page was rendered again elsewhere, once, and is delivered and counted once. No other
   * render was retried.
   */
  isRetriedElsewhere(): Promise<void>;
  /** The page is delivered without a retry. */
  finishesInPlace(): Promise<void>;
  /**
   * The render fails with this reason, and is neither counted nor retried. Resolves with the
   * message.
   */
  failsWith(reason: string): Promise<string>;
  /**
   * One more Chrome of this slot died, for one of these reasons, one was started in its place, and
   * nothing of the old one is left.
   */
  chromeDied(slot: number, ...reasons: string[]): Promise<void>;
  /**
   * The Chrome of the page's slot was replaced after the render hit a bound, and nothing of the old
   * one is left. `deaths`: reasons for which it may have died before.
   */
  chromeReplaced(...deaths: string[]): Promise<void>;
  /**
   * No small render failed, each is counted, the metrics of the API agree with the callers, every
   * slot whose Chrome neither died nor was replaced still has it, and no resource is held.
   */
  end(): Promise<void>;
  /** Releases the page and stops the load, whatever happened. */
  clear(): Promise<void>;
}

const apiMetrics = (deployment: Deployment) =>
  Promise.all(deployment.apis.map(api => api.process.metrics()));
const retries = async (deployment: Deployment) =>
  (await apiMetrics(deployment)).reduce(
    (sum, each) => sum + each.sum('pressroom_render_retries_total'),
    0,
  );

/**
 * Renders by outcome in the metrics of all API processes together, without outcomes of zero.
 */
async function outcomes(deployment: Deployment): Promise<Record<string, number>> {
  const sums: Record<string, number> = {};
  for (const metrics of await apiMetrics(deployment))
    for (const [outcome, times] of Object.entries(metrics.by('pressroom_renders_total', 'outcome')))
      if (times > 0) sums[outcome] = (sums[outcome] ?? 0) + times;
  return sums;
}

/** The Chrome of each slot of a worker, and how many each slot has had. */
async function chromesOf(worker: Replica): Promise<Record<number, Lives & { browser: number }>> {
  const slots = Object.entries(slotChromes(worker));
  return Object.fromEntries(
    await Promise.all(
      slots.map(async ([slot, browser]) => [
        slot,
        { browser, ...(await chromeLives(worker, Number(slot))) },
      ]),
    ),
  );
}

/** Deaths that a page causes: its render hit a bound. */
const BY_PAGE = new Set(['memory', 'flooded']);
const plusOne = (counts: Record<string, number>, reason: string) => ({
  ...counts,
  [reason]: (counts[reason] ?? 0) + 1,
});

/**
 * Needs a deployment of two idle workers with two slots each. `first`: HTML before the page's own;
 * `api`: the process that renders it; `small`: the request of the other callers.
 */
export async function startChromeScenario(
  deployment: Deployment,
  background: DeploymentAccount,
  { small = SMALL, ...options }: { small?: object; first?: string; api?: ApiReplica } = {},
): Promise<ChromeScenario> {
  const page = await holdPage(deployment, options);
  const { worker, account } = page;
  const before = new Map(
    await Promise.all(deployment.workers.map(async each => [each, await chromesOf(each)] as const)),
  );
  const chromesBefore = before.get(worker)!;
  const processes = Object.fromEntries(
    Object.entries(chromesBefore).map(
      ([slot, { browser }]) =>
        [slot, [...chromeProcesses(browser), { pid: browser, kind: 'browser' }]] as [
          string,
          ChromeProcess[],
        ],
    ),
  );
  const [neighbour] = Object.entries(chromesBefore).filter(([slot]) => Number(slot) !== page.slot);
  const retriesBefore = await retries(deployment);
  const start = () => startLoad(3, () => deployment.render(background, small));
  const countedBefore = await background.usage();
  const outcomesBefore = await outcomes(deployment);
  const earlier: (Answer | Error)[] = [];
  let load = start();
  await load.until(5);

  /** Slots of the page's worker that have another Chrome now. */
  const restarted = new Set<number>();
  async function gone(slot: number): Promise<void> {
    restarted.add(slot);
    await eventually(() => expect(stillAlive(processes[slot]!)).to.deep.equal([]));
  }
  return {
    page,
    neighbour: { slot: Number(neighbour![0]), browser: neighbour![1].browser },
    get load() {
      return load;
    },
    restartLoad: async () => {
      earlier.push(...(await load.stop()));
      load = start();
    },
    isRetriedElsewhere: async () => {
      await deployment.probePages.until(account.id, 0);
      await deployment.probePages.until(account.id, 1);
      deployment.probePages.release(account.id);
      expect((await page.answer).status).to.equal(200);
      expect(deployment.probePages.calls(page.name)).to.equal(2);
      expect(deployment.probePages.most(account.id)).to.equal(1);
      expect(await account.usage()).to.equal(1);
      expect(await retries(deployment)).to.equal(retriesBefore + 1);
    },
    finishesInPlace: async () => {
      deployment.probePages.release(account.id);
      expect((await page.answer).status).to.equal(200);
      expect(deployment.probePages.calls(page.name)).to.equal(1);
      expect(await account.usage()).to.equal(1);
    },
    failsWith: async reason => {
      const answer = await page.answer;
      expect(answer.status).to.equal(502);
      expect(answer.error()).to.include({ code: 'render_failed', reason });
      expect(deployment.probePages.calls(page.name)).to.equal(1);
      expect(await account.usage()).to.equal(0);
      expect(await retries(deployment)).to.equal(retriesBefore);
      return answer.error().message;
    },
    chromeDied: async (slot, ...reasons) => {
      const { starts, deaths } = chromesBefore[slot]!;
      await eventually(async () => {
        const possible = reasons.map(reason => ({
          starts: plusOne(starts, BY_PAGE.has(reason) ? 'bound' : 'died'),
          deaths: plusOne(deaths, reason),
        }));
        expect(possible).to.deep.include(await chromeLives(worker, slot));
      });
      await gone(slot);
    },
    chromeReplaced: async (...reasons) => {
      const before = chromesBefore[page.slot]!;
      const starts = plusOne(before.starts, 'bound');
      const possible = [
        before.deaths,
        ...reasons.map(reason => plusOne(before.deaths, reason)),
      ].map(deaths => ({ starts, deaths }));
      await eventually(async () =>
        expect(possible).to.deep.include(await chromeLives(worker, page.slot)),
      );
      await gone(page.slot);
    },
    end: async () => {
      const answers = [...earlier, ...(await load.stop())];
      expect(failuresOf(answers)).to.deep.equal([]);
      expect((await background.usage()) - countedBefore).to.equal(answers.length);
      const expected = { ...outcomesBefore };
      for (const answer of [...answers, await page.answer] as Answer[]) {
        const outcome = answer.status === 200 ? 'ok' : answer.error().reason!;
        expected[outcome] = (expected[outcome] ?? 0) + 1;
      }
      expect(await outcomes(deployment)).to.deep.equal(expected);
      await quiet(deployment);
      for (const [each, slots] of before) {
        const now = await chromesOf(each);
        for (const slot of each === worker ? restarted : []) delete slots[slot];
        expect(now).to.deep.include(slots);
      }
    },
    clear: async () => {
      deployment.probePages.release(account.id);
      await Promise.all([load.stop(), page.answer]);
    },
  };
}
