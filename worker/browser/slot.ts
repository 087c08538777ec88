// One slot: owns one Chrome and its page, which waits for a render or serves one. One loop replaces
// pages and Chromes; one state describes the slot.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../common/log.ts';
import type { SlotEnd } from '../../common/protocol.ts';
import type { Chrome } from './chrome.ts';
import {
  byPage,
  ChromeEnd,
  chromeEndOf,
  type Death,
  ENDS,
  isFault,
  type Start,
} from './chrome-end.ts';
import {
  disposeContext,
  type OpenPage,
  openPage,
  type SlotGuard,
  type SlotPage,
} from './slot-page.ts';
import { CUT_OFF, type SlotLimits, Watchdog } from './watchdog.ts';

/**
 * `closing`: the last page closes and the next one opens in the same Chrome. `restarting`: the next
 * page opens in another Chrome.
 */
export const SLOT_STATES = [
  'starting',
  'ready',
  'claimed',
  'closing',
  'restarting',
  'stopped',
] as const;
export type SlotState = (typeof SLOT_STATES)[number];

export interface SlotDeps {
  limits: SlotLimits;
  /** `signal` aborts the start. `log` includes the slot number. */
  launch(signal: AbortSignal, log: Log): Promise<Chrome>;
  openGuard(): Promise<SlotGuard>;
  log: Log;
  onChange(): void;
  onStart(reason: Start): void;
  onDeath(reason: Death): void;
}

/** One Chrome of the slot while it is in service. */
interface ChromeRun {
  readonly chrome: Chrome;
  readonly startedMs: number;
  readonly watchdog: Watchdog;
  /** Rejects once, with ChromeEnd. */
  readonly ended: PromiseWithResolvers<never>;
  renders: number;
  /** The page that is opening. */
  opening: Promise<OpenPage> | undefined;
  /** The account of its last render; undefined: none yet; null: unknown. */
  account: string | null | undefined;
}

const BACKOFF_MS = [0, 250, 1_000, 2_000, 5_000, 10_000, 30_000];
/** A Chrome that ran this long resets the back-off. */
const STABLE_MS = 30_000;

export class Slot {
  readonly number: number;
  readonly #deps: SlotDeps;
  readonly #log: Log;
  readonly #stopping = new AbortController();
  #state: SlotState = 'starting';
  #sinceMs = performance.now();
  #run: ChromeRun | undefined;
  #page: OpenPage | undefined;
  /** Settles when the previous Chrome has ended. */
  #ending: Promise<unknown> = Promise.resolve();
  #endingCount = 0;
  #loop: Promise<void> | undefined;

  constructor(number: number, deps: SlotDeps) {
    this.number = number;
    this.#deps = deps;
    this.#log = deps.log.child({ slot: number });
  }

  get state(): SlotState {
    return this.#state;
  }

  /** Time since the current render claimed the slot; 0 without a render. */
  runningMs(): number {
    return this.#state === 'claimed' ? performance.now() - this.#sinceMs : 0;
  }

  get chrome(): Chrome | undefined {
    return this.#run?.chrome;
  }

  /** The number of replaced Chromes that are still shutting down. */
  get ending(): number {
    return this.#endingCount;
  }

  /** Memory of all processes of its Chrome. */
  residentBytes(): number | undefined {
    return this.#run?.watchdog.residentBytes();
  }

  /** Whether the Chrome has rendered for no other account. */
  isFreshFor(account: string | undefined): boolean {
    const served = this.#run?.account;
    return served === undefined || (account !== undefined && served === account);
  }

  /**
   * Resolves when the slot is ready for the first time. Rejects when its first Chrome fails to
   * start; the slot retries until it is stopped.
   */
  async start(): Promise<void> {
    const ready = Promise.withResolvers<void>();
    this.#loop = this.#runLoop(ready);
    await ready.promise;
  }

  /** Claims the waiting page. Undefined when the slot is not ready. */
  claim(account?: string): SlotPage | undefined {
    const [run, page] = [this.#run, this.#page];
    if (this.#state !== 'ready' || !run || !page) return undefined;
    if (!run.chrome.connected()) {
      this.#retire(run, new ChromeEnd('unusable', CUT_OFF));
      return undefined;
    }
    page.claimed = true;
    run.account = account ?? null;
    run.renders++;
    run.watchdog.begin();
    this.#enter('claimed');
    return page;
  }

  /**
   * Releases the page. With `replaceReason` its Chrome is replaced. Resolves when the page is
   * closed. Never throws; safe to call twice.
   */
  async release(page: SlotPage, replaceReason?: string): Promise<void> {
    const open = page as OpenPage;
    if (page.claimed) {
      page.claimed = false;
      this.#enter(replaceReason ? 'restarting' : 'closing');
      open.over.resolve(replaceReason ? new ChromeEnd('bound', replaceReason) : undefined);
    }
    await open.gone.promise;
  }

  /** Replaces the Chrome of a ready slot because the next render is for another account. */
  renew(): void {
    if (this.#state === 'ready' && this.#run)
      this.#retire(
        this.#run,
        new ChromeEnd('account', 'the next render belongs to another account'),
      );
  }

  /** Ends the current render, if there is one. */
  endRender(reason: SlotEnd, message: string): void {
    if (this.#state === 'claimed') this.#page?.onEnd?.(reason, message);
  }

  /** Ends the Chrome, even while it is starting. Safe to call twice. */
  async stop(): Promise<void> {
    if (!this.#stopping.signal.aborted) {
      this.#stopping.abort();
      if (this.#run)
        this.#retire(this.#run, new ChromeEnd('recycle', 'the worker is shutting down'));
      if (!this.#loop) this.#enter('stopped');
    }
    await this.#loop;
  }

  #enter(next: SlotState): void {
    this.#log.debug({ from: this.#state, to: next }, 'slot state');
    this.#state = next;
    this.#sinceMs = performance.now();
    this.#deps.onChange();
  }

  async #runLoop(firstReady: PromiseWithResolvers<void>): Promise<void> {
    const { signal } = this.#stopping;
    let failures = 0;
    let reason: Start = 'first';
    while (!signal.aborted) {
      const waitMs = BACKOFF_MS[Math.min(failures, BACKOFF_MS.length - 1)]!;
      if (waitMs > 0) await sleep(waitMs, undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted) break;
      try {
        const run = await this.#launch(reason);
        const end = await this.#serve(run, firstReady);
        if (!isFault(end.reason)) reason = end.reason;
        else reason = byPage(end.reason) ? 'bound' : 'died';
        const wasGood = reason !== 'died' || performance.now() - run.startedMs > STABLE_MS;
        failures = wasGood ? 0 : failures + 1;
        if (failures > 0) firstReady.reject(end);
      } catch (error) {
        if (signal.aborted) break;
        failures++;
        this.#deps.onDeath('not_started');
        // The caller of `start` logs the first error.
        const isFirst = reason === 'first' && failures === 1;
        if (!isFirst)
          this.#log.error(
            { err: error, failures },
            `chrome could not be ${reason === 'first' ? 'started' : 'restarted'}`,
          );
        firstReady.reject(error);
      }
    }
    await this.#ending;
    this.#enter('stopped');
    firstReady.reject(new Error('the worker stopped before Chrome was up'));
  }

  async #launch(reason: Start): Promise<ChromeRun> {
    const { launch, limits, onStart } = this.#deps;
    const chrome = await launch(this.#stopping.signal, this.#log);
    onStart(reason);
    const ended = Promise.withResolvers<never>();
    ended.promise.catch(() => {});
    const watchdog = new Watchdog({
      chrome,
      limits,
      waiting: () => (this.#state === 'ready' ? this.#page?.sessionId : undefined),
      retire: (fault, message) => this.#retire(run, new ChromeEnd(fault, message)),
      log: this.#log,
    });
    const run: ChromeRun = {
      chrome,
      startedMs: performance.now(),
      watchdog,
      ended,
      renders: 0,
      opening: undefined,
      account: undefined,
    };
    void chrome.exited.then(how => this.#retire(run, new ChromeEnd('exited', how)));
    chrome.pipe.onBrowserEvent((method, { sessionId }) => {
      if (method === 'Target.detachedFromTarget' && sessionId === this.#page?.sessionId)
        this.#onPageGone('the page closed itself');
    });
    return run;
  }

  /** Handles a page that closes itself, or whose process dies while it opens or waits. */
  #onPageGone(message: string): void {
    const [run, page] = [this.#run, this.#page];
    if (!run) return;
    if (!page) return this.#retire(run, new ChromeEnd('unusable', `${message} while it opened`));
    if (page.claimed) page.onEnd?.('renderer_crashed', message);
    else if (this.#state === 'ready') this.#retire(run, new ChromeEnd('unusable', message));
  }

  /** Takes a Chrome out of service and ends the render in it. */
  #retire(run: ChromeRun, end: ChromeEnd): void {
    run.ended.reject(end);
    if (run !== this.#run || this.#state !== 'claimed' || !isFault(end.reason)) return;
    this.#page?.onEnd?.(ENDS[end.reason], end.reason === 'exited' ? 'Chrome ended' : end.message);
  }

  /** Serves renders in one Chrome. Resolves with the reason why the Chrome ends. */
  async #serve(run: ChromeRun, firstReady: PromiseWithResolvers<void>): Promise<ChromeEnd> {
    const onCrash = () => this.#onPageGone("the page's process crashed");
    const { chrome } = run;
    const nearMemoryLimit = () => run.watchdog.nearMemoryLimit();
    const replaceChrome = (message: string) =>
      this.#retire(run, new ChromeEnd('unusable', message));
    const { openGuard } = this.#deps;
    const callbacks = { openGuard, nearMemoryLimit, replaceChrome, onCrash };
    this.#run = run;
    try {
      for (;;) {
        run.opening = openPage({ slot: this.number, chrome, ...callbacks });
        const page = await Promise.race([run.opening, run.ended.promise]);
        this.#page = page;
        run.watchdog.ready();
        this.#enter('ready');
        firstReady.resolve();
        const replaceReason = await Promise.race([page.over.promise, run.ended.promise]);
        run.watchdog.end();
        if (replaceReason) throw replaceReason;
        if (run.watchdog.reniced()) throw new ChromeEnd('bound', 'its priority was lowered');
        if (chrome.pipe.overBudget()) throw new ChromeEnd('bound', 'its event budget was exceeded');
        this.#replaceWhenWorn(run);
        this.#close(run, page);
      }
    } catch (error) {
      const end = chromeEndOf(error);
      await this.#end(run, end);
      return end;
    }
  }

  #replaceWhenWorn({ renders, watchdog }: ChromeRun): void {
    const { recycleRenders, recycleBytes } = this.#deps.limits;
    // Slots are used evenly, so their limits differ: not all of them restart at the same time.
    const earlier = Math.floor(recycleRenders / 100) * ((this.number - 1) % 10);
    if (renders >= recycleRenders - earlier)
      throw new ChromeEnd('recycle', `it has served ${renders} renders`);
    const grownBytes = watchdog.grownBytes();
    if (grownBytes > recycleBytes)
      throw new ChromeEnd('recycle', `it has grown by ${Math.round(grownBytes / 2 ** 20)} MiB`);
  }

  /** Destroys the context while the next one opens. A Chrome that fails to do so is replaced. */
  #close(run: ChromeRun, page: OpenPage): void {
    const { pipe, sessionId, guard } = page;
    this.#page = undefined;
    pipe.unroute(sessionId);
    const disposed = disposeContext(page).catch(error => {
      this.#retire(run, chromeEndOf(error));
      return run.chrome.close();
    });
    void Promise.all([disposed, guard.close(disposed)]).then(() => page.gone.resolve());
  }

  /** The next Chrome starts while this one ends, but never more than these two run. */
  async #end(run: ChromeRun, end: ChromeEnd): Promise<void> {
    const { chrome, watchdog } = run;
    const page = this.#page;
    this.#run = undefined;
    this.#page = undefined;
    watchdog.stop();
    const fields = {
      pid: chrome.pid,
      why: end.message,
      livedMs: Math.round(performance.now() - run.startedMs),
      renders: run.renders,
    };
    if (isFault(end.reason)) {
      this.#log[byPage(end.reason) ? 'warn' : 'error'](fields, 'chrome died');
      this.#deps.onDeath(end.reason);
    } else if (!this.#stopping.signal.aborted) this.#log.info(fields, 'chrome is replaced');
    if (end.reason !== 'recycle' && end.reason !== 'account') chrome.kill();
    this.#endingCount++;
    const closed = chrome.close().finally(() => this.#endingCount--);
    if (page) page.claimed = false;
    // Includes the guard of a page that opened while its Chrome was ending.
    const guards = new Set([
      page?.guard,
      await run.opening?.then(({ guard }) => guard).catch(() => undefined),
    ]);
    const gone = Promise.all([closed, ...[...guards].map(guard => guard?.close(closed))]).then(() =>
      page?.gone.resolve(),
    );
    this.#enter('restarting');
    await this.#ending;
    this.#ending = gone;
  }
}
