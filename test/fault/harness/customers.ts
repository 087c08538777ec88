// Callers with different behaviour in a random order: some wait for the response, some disconnect,
// some send pages that fail. Each behaviour has its own account, so that its expected count is
// known.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Call } from '../../support/http-call.ts';
import type { ApiReplica, Deployment, DeploymentAccount } from './deployment.ts';
import type { Chance } from './random.ts';

/**
 * stays: reads the whole response. glances: reads the head of the response and disconnects. fails:
 * sends a page that cannot be rendered. vanishes: disconnects while its page is alive. wavers:
 * disconnects at any moment, or never.
 */
export type Manner = 'stays' | 'glances' | 'fails' | 'vanishes' | 'wavers';

export interface Visit {
  manner: Manner;
  account: DeploymentAccount;
  api: ApiReplica;
  /** The status; `left` if the caller disconnected, `broken` if the connection broke first. */
  end: number | 'left' | 'broken';
  /** `X-Usage-Count`. */
  usage?: number;
  /** The expected outcome in `pressroom_renders_total`. */
  outcome?: string;
}

export interface Customers {
  /** Exactly their responses with 200 are counted. */
  readonly steady: DeploymentAccount;
  /** Some of their renders are counted although the caller did not see the response. */
  readonly wavering: DeploymentAccount;
  /** Their renders are never counted. */
  readonly failing: DeploymentAccount;
  readonly vanishing: DeploymentAccount;
  /** Starts this number of calls, ten at a time. Returns the calls so far and their end. */
  come(count: number, chance: Chance): Rush;
}

export interface Rush {
  readonly visits: readonly Visit[];
  /** Resolves after this number of calls. */
  reached(count: number): Promise<void>;
  readonly over: Promise<readonly Visit[]>;
}

const AT_A_TIME = 10;
/** Each as often as it is listed. */
const SHARES = (
  Object.entries({ stays: 55, glances: 5, fails: 18, vanishes: 5, wavers: 17 }) as [
    Manner,
    number,
  ][]
).flatMap(([manner, share]) => Array<Manner>(share).fill(manner));
const POLL_MS = 10;

export async function openCustomers(deployment: Deployment): Promise<Customers> {
  const [steady, wavering, failing, vanishing] = [
    await deployment.account(),
    await deployment.account(),
    await deployment.account(),
    await deployment.account(),
  ];
  const accountOf = {
    stays: steady,
    glances: steady,
    fails: failing,
    vanishes: vanishing,
    wavers: wavering,
  };
  /** At any step: the first before it is loaded, the last when its PDF is finished. */
  const failures = [
    { url: deployment.probePages.bad('breaks') },
    { url: deployment.probePages.bad('fails') },
    { html: '<p>x</p>', wait_for_selector: '][' },
    { html: '<p>x</p>', javascript: 'throw new Error()' },
    { html: '<p>x</p>', wait_for_expression: '((' },
    { html: '<p>x</p>', pages: '7' },
  ];
  let made = 0;
  /** The current duration of a render of the callers that stay. */
  let usualMs = 500;

  const choose = (chance: Chance) => {
    const manner = chance.pick(SHARES);
    return { manner, failure: chance.pick(failures), patience: chance.next() * 1.5 };
  };

  /** Resolves when the page is alive or the call has ended. */
  async function untilAlive(call: Call, render: string): Promise<void> {
    let over = false;
    const end = () => {
      over = true;
    };
    call.then(end, end);
    while (!over && deployment.probePages.calls(render) === 0) await sleep(POLL_MS);
  }

  async function visit(
    { manner, failure, patience }: ReturnType<typeof choose>,
    api: ApiReplica,
  ): Promise<Visit> {
    const account = accountOf[manner];
    const render = `render ${++made}`;
    const page =
      manner === 'vanishes'
        ? deployment.probePages.page(account.id, render)
        : manner === 'fails'
          ? failure
          : { html: '<p>x</p>' };
    const visit: Visit = { manner, account, api, end: 'broken' };
    const startMs = performance.now();
    let leaving: NodeJS.Timeout | undefined;
    let left = false;
    const call = deployment.render(account, page, api);
    const leave = () => {
      left = true;
      call.disconnect();
    };
    void call.head
      .then(({ status, headers }) => {
        visit.end = status;
        if (headers['x-usage-count'] !== undefined) visit.usage = Number(headers['x-usage-count']);
        if (manner === 'glances' && status === 200) leave();
      })
      .catch(() => {});
    if (manner === 'wavers') leaving = setTimeout(leave, patience * usualMs);
    if (manner === 'vanishes') void untilAlive(call, render).then(leave);
    try {
      const answer = await call;
      visit.outcome = answer.status === 200 ? 'ok' : (answer.error().reason ?? answer.error().code);
      if (manner === 'stays' && answer.status === 200)
        usualMs = 0.9 * usualMs + 0.1 * (performance.now() - startMs);
    } catch {
      // A received head is the caller's result.
      if (left && visit.end === 'broken') visit.end = 'left';
    }
    clearTimeout(leaving);
    return visit;
  }

  function come(count: number, chance: Chance): Rush {
    const waiting = Array.from({ length: count }, () => choose(chance));
    const visits: Visit[] = [];
    let look = () => {};
    let turn = 0;
    async function caller(): Promise<void> {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        const open = deployment.apis.filter(({ process }) => process.alive());
        visits.push(await visit(next, open[turn++ % open.length]!));
        look();
      }
    }
    const over = Promise.all(Array.from({ length: AT_A_TIME }, caller)).then(() => visits);
    const reached = (count: number) =>
      new Promise<void>(resolve => {
        const before = look;
        look = () => {
          before();
          if (visits.length >= count) resolve();
        };
        look();
      });
    return { visits, reached, over };
  }

  return { steady, wavering, failing, vanishing, come };
}
