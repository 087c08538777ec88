// Innocent accounts render beside hostile callers, on one API and one worker of four slots. Records
// how each call ended, how long the innocent waited beside ordinary and beside hostile callers, and
// what the hostile renders used and left behind.
import { setTimeout as sleep } from 'node:timers/promises';
import { invoice } from '../../../bench/invoice.ts';
import { quantile } from '../../../bench/load.ts';
import { report } from '../../../bench/report-document.ts';
import { eventually } from '../../support/eventually.ts';
import { type Answer, type Call, httpCall, renderCall } from '../../support/http-call.ts';
import type { Footprint, HostilePage } from '../../support/pages/hostile-page.ts';
import { type HostileServer, startHostileServer } from '../../support/pages/hostile-server.ts';
import type { ChromeProcess } from './chrome-processes.ts';
import { type Deployment, type DeploymentAccount, startDeployment } from './deployment.ts';
import { watchFootprint } from './footprint.ts';
import { type Rest, remainsOf, restOf } from './neighbour-remains.ts';
import { chromeLives, untilAllReady } from './worker-look.ts';

const SLOTS = 4;
const INNOCENT = 5;
const HOSTILE = 2;
/** PRESSROOM_QUEUE_TIMEOUT: an account that held a slot for long waits for the others. */
const QUEUE_MS = 30_000;
/** A Chrome restarts, its processes end, leases are settled. */
const REST_MS = 20_000;
/** The retry delay of a failed call, so that a caller does not only fail. */
const AFTER_FAILURE_MS = 100;
const MIB = 2 ** 20;

/** The caller disconnected at the end of the row. */
export const DISCONNECTED = 'disconnected';

/** The number of calls by outcome. */
export type Ends = Record<string, number>;

interface Felt {
  ends: Ends;
  tookMs: number[];
}

export interface Row {
  name: string;
  innocent: { calls: number; failed: Ends; p50Ms: number; p95Ms: number };
  /** The p95 beside these callers, relative to that beside ordinary ones. */
  ratio: number;
  hostile: { ends: Ends; longestMs: number };
  took: Footprint;
  /** The ends of Chromes meanwhile, by reason. */
  chromeEnds: Ends;
  /** The memory growth of the worker's own process. */
  workerMib: number;
  /** What was left at the end, as sentences. */
  left: string[];
}

/** Sends the `nth` call of this caller. */
export type Caller = (nth: number) => Call;

export interface NeighbourhoodOptions {
  /** The pages that the server serves. */
  pages: readonly HostilePage[];
  renderTimeoutMs: number;
  /** The duration of the measurement beside ordinary callers. */
  ordinarySeconds: number;
  /** Hostile callers disconnect when the innocent are done, without waiting for responses. */
  disconnects?: boolean;
}

const endOf = (answer: Answer): string => {
  if (answer.status === 200) return 'ok';
  const { code, reason } = answer.error();
  return reason ?? code;
};

const largest = (values: readonly number[]) =>
  values.reduce((most, value) => Math.max(most, value), 0);

/** What is in `after` beyond `before`. */
const grown = (after: Ends, before: Ends): Ends =>
  Object.fromEntries(
    Object.entries(after)
      .map(([key, count]) => [key, count - (before[key] ?? 0)] as const)
      .filter(([, more]) => more > 0),
  );

interface Calling {
  stopped(): boolean;
  /** The callers disconnect when it is aborted. */
  leaving?: AbortSignal;
  /** A call that takes longer is aborted. */
  limitMs: number;
}

/** All callers of the group send one call after another until they are stopped. */
async function keepCalling(
  group: readonly Caller[],
  { stopped, leaving, limitMs }: Calling,
  pauseMs: number,
): Promise<Felt> {
  const felt: Felt = { ends: {}, tookMs: [] };
  async function run(call: Caller): Promise<void> {
    for (let nth = 0; !stopped(); nth++) {
      const began = performance.now();
      const running = call(nth);
      const limit = setTimeout(() => running.disconnect(), limitMs);
      leaving?.addEventListener('abort', running.disconnect, { once: true });
      const noAnswer = (error: Error) =>
        leaving?.aborted ? DISCONNECTED : `no answer: ${error.message}`;
      const end = await running.then(endOf, noAnswer);
      leaving?.removeEventListener('abort', running.disconnect);
      clearTimeout(limit);
      felt.ends[end] = (felt.ends[end] ?? 0) + 1;
      felt.tookMs.push(performance.now() - began);
      if (end !== 'ok' && pauseMs > 0) await sleep(pauseMs);
    }
  }
  await Promise.all(group.map(run));
  return felt;
}

const settingsOf = (allow: string, renderTimeoutMs: number) => ({
  worker: { PRESSROOM_EGRESS_ALLOW: allow },
  api: {
    PRESSROOM_EGRESS_ALLOW: allow,
    PRESSROOM_RENDER_TIMEOUT: `${renderTimeoutMs}ms`,
    PRESSROOM_TRUSTED_PROXIES: '127.0.0.1/32',
    PRESSROOM_TRIAL_PER_MINUTE: '1000',
  },
});

export class Neighbourhood {
  readonly deployment: Deployment;
  readonly #server: HostileServer;
  readonly #renderTimeoutMs: number;
  readonly #disconnects: boolean;
  readonly #innocent: readonly Caller[];
  readonly #hostile: readonly DeploymentAccount[];
  #ordinaryP95Ms = Number.NaN;
  #visitors = 0;

  static async start(options: NeighbourhoodOptions): Promise<Neighbourhood> {
    const server = await startHostileServer(options.pages);
    let deployment: Deployment | undefined;
    try {
      const settings = settingsOf(server.allow, options.renderTimeoutMs);
      deployment = await startDeployment({ apis: 1, workers: 1, slots: SLOTS, ...settings });
      const opened = deployment;
      const accounts = (count: number) =>
        Promise.all(Array.from({ length: count }, () => opened.account('free')));
      const neighbourhood = new Neighbourhood(
        options,
        deployment,
        server,
        await accounts(INNOCENT),
        await accounts(HOSTILE),
      );
      await neighbourhood.#measureOrdinary(options.ordinarySeconds);
      return neighbourhood;
    } catch (error) {
      await deployment?.stop();
      await server.close();
      throw error;
    }
  }

  private constructor(
    { renderTimeoutMs, disconnects = false }: NeighbourhoodOptions,
    deployment: Deployment,
    server: HostileServer,
    innocent: readonly DeploymentAccount[],
    hostile: readonly DeploymentAccount[],
  ) {
    this.deployment = deployment;
    this.#server = server;
    this.#renderTimeoutMs = renderTimeoutMs;
    this.#disconnects = disconnects;
    this.#innocent = innocent.map(account => nth => this.#render(account, { html: invoice(nth) }));
    this.#hostile = hostile;
  }

  get port(): number {
    return this.deployment.apis[0]!.port;
  }

  #render(account: DeploymentAccount, body: unknown): Call {
    return renderCall(this.port, account.key, body);
  }

  async #measureOrdinary(seconds: number): Promise<void> {
    // The first renders of a process compile its code.
    await Promise.all(this.#innocent.map(call => call(0)));
    const file = (name: string) => `${this.#server.base}/report/${name}`;
    const ordinary: Caller[] = this.#hostile.map(
      account => nth => this.#render(account, { html: report(nth, file) }),
    );
    const { innocent } = await this.beside('ordinary callers', ordinary, seconds);
    this.#ordinaryP95Ms = innocent.p95Ms;
  }

  #bodyOf({ path, html, fields }: HostilePage): string {
    const { base } = this.#server;
    return JSON.stringify({
      ...(path === undefined ? { html: html(base) } : { url: base + path }),
      ...fields,
    });
  }

  /** Two accounts that render the page. */
  callersOf(page: HostilePage): Caller[] {
    const body = this.#bodyOf(page);
    return this.#hostile.map(account => () => this.#render(account, body));
  }

  /** One trial caller with a new address each time; more would exceed the trial slots. */
  trialCallersOf(page: HostilePage): Caller[] {
    const body = this.#bodyOf(page);
    const call = () => {
      this.#visitors += 1;
      const from = `10.0.${this.#visitors >> 8}.${this.#visitors & 255}`;
      const headers = { 'content-type': 'application/json', 'x-forwarded-for': from };
      return httpCall(this.port, 'POST', '/v1/trial/render', headers, body);
    };
    return [call];
  }

  /** Runs `hostile` beside the innocent for so long, and until all calls have ended. */
  async beside(name: string, hostile: readonly Caller[], seconds: number): Promise<Row> {
    const [worker] = this.deployment.workers as [Deployment['workers'][number]];
    // What is left is compared with a worker that has opened the next page of every slot.
    await untilAllReady(worker);
    const [before, lives] = [await restOf(this.deployment), await chromeLives(worker)];
    const requests = this.#server.requests();
    const watch = watchFootprint(worker.process.pid);
    const felt = await this.#callTogether(hostile, seconds).finally(() => watch.end());
    const left = await this.#leftOf(before, watch.seen());
    const { ok: _, ...failed } = felt.innocent.ends;
    const p95Ms = quantile(felt.innocent.tookMs, 0.95);
    return {
      name,
      innocent: {
        calls: felt.innocent.tookMs.length,
        failed,
        p50Ms: quantile(felt.innocent.tookMs, 0.5),
        p95Ms,
      },
      ratio: p95Ms / this.#ordinaryP95Ms,
      hostile: { ends: felt.hostile.ends, longestMs: largest(felt.hostile.tookMs) },
      took: { ...watch.taken(), requests: this.#server.requests() - requests },
      chromeEnds: grown((await chromeLives(worker)).deaths, lives.deaths),
      workerMib: ((await worker.process.memory()).nowBytes - before.bytes) / MIB,
      left,
    };
  }

  async #callTogether(
    hostile: readonly Caller[],
    seconds: number,
  ): Promise<{ innocent: Felt; hostile: Felt }> {
    const end = performance.now() + seconds * 1_000;
    const calling = {
      stopped: () => performance.now() > end,
      limitMs: QUEUE_MS + 2 * this.#renderTimeoutMs,
    };
    const leaving = new AbortController();
    const hostileEnd = keepCalling(hostile, { ...calling, leaving: leaving.signal }, 0);
    const innocentFelt = await keepCalling(this.#innocent, calling, AFTER_FAILURE_MS);
    if (this.#disconnects) leaving.abort();
    return { innocent: innocentFelt, hostile: await hostileEnd };
  }

  /** What is left after a pause, as sentences. */
  async #leftOf(before: Rest, seen: readonly ChromeProcess[]): Promise<string[]> {
    let left: string[] = [];
    await eventually(async () => {
      left = await remainsOf(this.deployment, before, seen).catch(error => [
        `the worker cannot be looked at: ${error}`,
      ]);
      if (left.length > 0) throw new Error('something is left');
    }, REST_MS).catch(() => {});
    return left;
  }

  async stop(): Promise<void> {
    await this.deployment.stop().finally(() => this.#server.close());
  }
}
