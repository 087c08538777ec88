// Callers of a chaos run with different behaviour: on every plan a few more than it allows. They
// send one call after another and record how each ended.
import { setTimeout as sleep } from 'node:timers/promises';
import { pdfText } from '../../support/pdf.ts';
import type { Deployment, DeploymentAccount } from '../harness/deployment.ts';
import type { Chance } from '../harness/random.ts';

export const PLANS = { free: 1, starter: 2, growth: 4 } as const;

export interface Visit {
  account: DeploymentAccount;
  /** Of the answer, `left` when the caller disconnected, or `broken` by another process. */
  end: number | 'left' | 'broken';
  /** The error's reason or code. */
  why: string;
  /** `X-Usage-Count`. */
  usage: number | undefined;
  /** The process that was asked. */
  pid: number;
  ms: number;
}

export interface Callers {
  readonly accounts: { account: DeploymentAccount; cap: number }[];
  readonly visits: Visit[];
  /** PDFs with another text than that of their document. */
  readonly wrongTexts: string[];
  /** How many renders used a warm page. */
  warm(): number;
  /** Calls that are not answered yet, by how long they have waited, in ms. */
  waiting(): number[];
  /** Starts no more calls; resolves when all calls have ended. */
  stop(): Promise<void>;
}

const FAILING = [
  { html: '<p>x</p>', pages: '7' },
  { html: '<p>x</p>', wait_for_selector: '][' },
  { html: '<p>x</p>', javascript: 'throw new Error()' },
];

export async function startCallers(deployment: Deployment, chance: Chance): Promise<Callers> {
  const accounts: Callers['accounts'] = [];
  for (const [plan, cap] of Object.entries(PLANS))
    accounts.push({ account: await deployment.account(plan), cap });
  const visits: Visit[] = [];
  const wrongTexts: string[] = [];
  let warm = 0;
  const open = new Map<symbol, number>();
  let stopped = false;
  let made = 0;

  async function visit(account: DeploymentAccount): Promise<void> {
    const there = deployment.apis.filter(({ process }) => process.alive());
    if (there.length === 0) return void (await sleep(100));
    const api = chance.pick(there);
    const render = `render ${++made}`;
    const manner = chance.pick([
      'plain',
      'plain',
      'plain',
      'plain',
      'held',
      'held',
      'fails',
      'leaves',
      'leaves while held',
    ] as const);
    const held = manner === 'held' || manner === 'leaves while held';
    const body = held
      ? deployment.probePages.page(account.id, render)
      : manner === 'fails'
        ? chance.pick(FAILING)
        : { html: `<p>${render}</p>` };
    const startMs = performance.now();
    const mark = Symbol(render);
    open.set(mark, startMs);
    const { pid } = api.process;
    const call = deployment.render(account, body, api);
    let left = false;
    const timers = [
      held && setTimeout(() => deployment.probePages.letGo(render), chance.int(50, 3_000)),
      manner.startsWith('leaves') &&
        setTimeout(
          () => {
            left = true;
            call.disconnect();
          },
          chance.int(0, 2_000),
        ),
    ];
    // A page that is retried after its release must be released again.
    const again = held ? setInterval(() => deployment.probePages.letGo(render), 4_000) : undefined;
    const done = (end: Visit['end'], why = '', usage?: number) =>
      visits.push({ account, end, why, usage, pid, ms: performance.now() - startMs });
    try {
      const answer = await call;
      const usage = answer.headers['x-usage-count'];
      if (answer.status === 200) {
        done(200, 'ok', usage === undefined ? undefined : Number(usage));
        if (answer.headers['server-timing']?.includes('isolation;desc="warm"')) warm += 1;
        const text = held ? render : (await pdfText(answer.body).catch(String)).trim();
        if (text !== render) wrongTexts.push(`${render} of ${account.name} printed "${text}"`);
      } else done(answer.status, answer.error().reason ?? answer.error().code);
    } catch {
      done(left ? 'left' : 'broken');
    }
    for (const timer of timers) if (timer) clearTimeout(timer);
    clearInterval(again);
    open.delete(mark);
    if (visits.at(-1)!.end !== 200) await sleep(chance.int(20, 300));
  }

  async function caller(account: DeploymentAccount): Promise<void> {
    while (!stopped) await visit(account);
  }
  const all = accounts.flatMap(({ account, cap }) =>
    Array.from({ length: cap + 1 }, () => caller(account)),
  );

  return {
    accounts,
    visits,
    wrongTexts,
    warm: () => warm,
    waiting: () => [...open.values()].map(since => performance.now() - since),
    stop: async () => {
      stopped = true;
      await Promise.all(all);
    },
  };
}
