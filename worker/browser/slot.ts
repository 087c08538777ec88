// One slot: owns one Chrome, its fresh page, which waits for a render or serves one, and at times a
// warm page beside it. One loop replaces pages and Chromes; one state describes the slot.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../common/log.ts';
import type { SlotEnd } from '../../common/protocol.ts';
import type { Chrome } from './chrome.ts';
import { byPage, ChromeEnd, chromeEndOf, ENDS, isFault, type Start } from './chrome-end.ts';
import { type ChromeRun, checkAfterRender, startRun } from './chrome-run.ts';
import { disposeContext, type OpenPage, openPage, type SlotPage } from './slot-page.ts';
import type { PageRequest, SlotDeps, SlotState } from './slot-state.ts';
import { WarmPage } from './warm-page.ts';
import { CUT_OFF } from './watchdog.ts';

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
  /** The fresh page: waits for a render, or is claimed. */
  #page: OpenPage | undefined;
  /** The page of the current render: the fresh one, or a warm one. */
  #claimed: OpenPage | undefined;
  readonly #warm: WarmPage;
  /** Settles when the previous Chrome has ended. */
  #ending: Promise<unknown> = Promise.resolve();
  #endingCount = 0;
  #loop: Promise<void> | undefined;

  constructor(number: number, deps: SlotDeps) {
    this.number = number;
    this.#deps = deps;
    this.#log = deps.log.child({ slot: number });
    this.#warm = new WarmPage({
      limits: deps.limits.warmPage,
      close: page => this.#run && this.#close(this.#run, page),
      rendererBytes: () => this.#run?.watchdog.rendererBytes() ?? 0,
      onViolation: hasDocument => this.#onViolation(hasDocument),
      onChange: () => deps.onChange(),
      log: this.#log,
    });
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

  /** The account whose static documents it can render in its warm page. */
  get warmAccount(): string | undefined {
    return this.#state === 'ready' ? this.#warm.account : undefined;
  }

  /**
   * Claims the fresh page, or for a static document the warm page of its account. Undefined when the
   * slot is not ready. A warm page that is not claimed is closed: nothing of one account stays
   * beside another, or beside scripts.
   */
  claim({ account, isStatic = false, keep = false }: PageRequest = {}): SlotPage | undefined {
    const [run, fresh] = [this.#run, this.#page];
    if (this.#state !== 'ready' || !run || !fresh) return undefined;
    if (!run.chrome.connected()) {
      this.#retire(run, new ChromeEnd('unusable', CUT_OFF));
      return undefined;
    }
    const isSealed = isStatic && account !== undefined;
    const isWarm = isSealed && this.#warm.account === account;
    const page = isWarm ? this.#warm.take() : fresh;
    this.#warm.close();
    if (isWarm) this.#deps.onWarmRender();
    else if (isSealed) this.#warm.seal(page);
    page.claimed = true;
    page.renders++;
    page.keepFor = isWarm || (isSealed && keep) ? account : undefined;
    page.gone = Promise.withResolvers();
    this.#claimed = page;
    run.account = account ?? null;
    run.renders++;
    run.watchdog.begin(isWarm ? this.#warm.bytes : 0);
    this.#enter('claimed');
    return page;
  }

  /**
   * Releases the page. With `replaceReason` its Chrome is replaced; without `succeeded` a sealed
   * page is not kept. Resolves when the page is closed or reset. Never throws; safe to call twice.
   */
  async release(page: SlotPage, replaceReason?: string, succeeded = false): Promise<void> {
    const open = page as OpenPage;
    const { gone } = open;
    if (page.claimed) {
      page.claimed = false;
      if (!succeeded) open.keepFor = undefined;
      this.#enter(replaceReason ? 'restarting' : 'closing');
      this.#run?.released.resolve(
        replaceReason ? new ChromeEnd('bound', replaceReason) : undefined,
      );
    }
    await gone.promise;
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
    if (this.#state === 'claimed') this.#claimed?.onEnd?.(reason, message);
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
    const run: ChromeRun = startRun(chrome, {
      limits,
      waiting: () => (this.#state === 'ready' ? this.#page?.sessionId : undefined),
      retire: end => this.#retire(run, end),
      onDetached: sessionId => this.#onPageGone(sessionId, 'the page closed itself'),
      log: this.#log,
    });
    return run;
  }

  /** Handles a page that closes itself, or whose process dies while it opens or waits. */
  #onPageGone(sessionId: unknown, message: string): void {
    const run = this.#run;
    if (!run) return;
    if (sessionId === this.#claimed?.sessionId) this.#claimed?.onEnd?.('renderer_crashed', message);
    else if (sessionId === this.#warm.page?.sessionId) this.#warm.close();
    else if (sessionId === this.#page?.sessionId)
      this.#retire(run, new ChromeEnd('unusable', message));
  }

  #onFreshCrash(run: ChromeRun): void {
    const message = "the page's process crashed";
    if (this.#page) this.#onPageGone(this.#page.sessionId, message);
    else this.#retire(run, new ChromeEnd('unusable', `${message} while it opened`));
  }

  /** The API renders the document again, in a page with its network. */
  #onViolation(hasDocument: boolean): void {
    this.#deps.onViolation();
    if (hasDocument) this.#log.warn('the document of a sealed page tried to load something');
    else this.#log.error('a sealed page tried to load something without a document');
  }

  /** Takes a Chrome out of service and ends the render in it. */
  #retire(run: ChromeRun, end: ChromeEnd): void {
    run.ended.reject(end);
    if (run !== this.#run || this.#state !== 'claimed' || !isFault(end.reason)) return;
    this.#claimed?.onEnd?.(
      ENDS[end.reason],
      end.reason === 'exited' ? 'Chrome ended' : end.message,
    );
  }

  /** Serves renders in one Chrome. Resolves with the reason why the Chrome ends. */
  async #serve(run: ChromeRun, firstReady: PromiseWithResolvers<void>): Promise<ChromeEnd> {
    this.#run = run;
    try {
      for (let resetting: Promise<void> | undefined; ; ) {
        const fresh = this.#page ?? this.#open(run);
        const [page] = await Promise.race([Promise.all([fresh, resetting]), run.ended.promise]);
        this.#page = page;
        run.watchdog.ready();
        run.released = Promise.withResolvers();
        this.#enter('ready');
        firstReady.resolve();
        const end = await Promise.race([run.released.promise, run.ended.promise]);
        run.watchdog.end();
        if (end) throw end;
        checkAfterRender(run, this.number, this.#deps.limits);
        resetting = this.#finish(run, this.#claimed!);
      }
    } catch (error) {
      const end = chromeEndOf(error);
      await this.#end(run, end);
      return end;
    }
  }

  #open(run: ChromeRun): Promise<OpenPage> {
    run.opening = openPage({
      slot: this.number,
      chrome: run.chrome,
      openGuard: this.#deps.openGuard,
      nearMemoryLimit: () => run.watchdog.nearMemoryLimit(),
      replaceChrome: message => this.#retire(run, new ChromeEnd('unusable', message)),
      onCrash: () => this.#onFreshCrash(run),
    });
    return run.opening;
  }

  /** Closes the page of a render, or resets and keeps it. Resolves when it is reset. */
  #finish(run: ChromeRun, page: OpenPage): Promise<void> | undefined {
    this.#claimed = undefined;
    if (page === this.#page) this.#page = undefined;
    if (page.keepFor !== undefined) return this.#warm.keep(page, page.keepFor);
    this.#close(run, page);
    return undefined;
  }

  /**
   * Destroys the context of a page, while the next one may open. A Chrome that fails to do so is
   * replaced.
   */
  #close(run: ChromeRun, page: OpenPage): void {
    const { pipe, sessionId, guard } = page;
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
    const pages = new Set([this.#page, this.#claimed, this.#warm.page].filter(each => !!each));
    this.#run = undefined;
    this.#page = undefined;
    this.#claimed = undefined;
    this.#warm.close();
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
    for (const page of pages) page.claimed = false;
    // Includes the guard of a page that opened while its Chrome was ending.
    const opening = await run.opening?.catch(() => undefined);
    if (opening) pages.add(opening);
    const guards = [...pages].map(({ guard }) => guard.close(closed));
    const gone = Promise.all([closed, ...guards]).then(() => {
      for (const page of pages) page.gone.resolve();
    });
    this.#enter('restarting');
    await this.#ending;
    this.#ending = gone;
  }
}
