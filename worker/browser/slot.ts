// One slot: owns one Chrome and, in it, the page that waits for or serves one render. Its life is
// one loop and one printed state.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../common/log.ts';
import type { SlotEnd } from '../../common/protocol.ts';
import type { Chrome } from './chrome.ts';
import { byPage, type Death, ENDS, isFault, Over, overBy, type Start } from './chrome-end.ts';
import {
  disposeContext,
  type OpenPage,
  openPage,
  type SlotGuard,
  type SlotPage,
} from './slot-page.ts';
import { CUT_OFF, type SlotLimits, Watchdog } from './watchdog.ts';

/**
 * `closing`: the last page goes and the next one opens in the same Chrome. `restarting`: the next
 * one opens in another Chrome.
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
  /** `signal` ends a start that is under way. `log` names the slot. */
  launch(signal: AbortSignal, log: Log): Promise<Chrome>;
  openGuard(): Promise<SlotGuard>;
  log: Log;
  onChange(): void;
  onStart(reason: Start): void;
  onDeath(reason: Death): void;
}

/** One Chrome of the slot. */
interface Life {
  readonly chrome: Chrome;
  readonly bornMs: number;
  readonly watchdog: Watchdog;
  /** Rejects with Over, once. */
  readonly over: PromiseWithResolvers<never>;
  renders: number;
  /** The page that is opening. */
  opening: Promise<OpenPage> | undefined;
  /** The only account that it has rendered for; undefined: none yet; null: unknown. */
  account: string | null | undefined;
}

const BACKOFF_MS = [0, 250, 1_000, 2_000, 5_000, 10_000, 30_000];
/** A Chrome that lived this long was a good start: the back-off begins again. */
const GOOD_LIFE_MS = 30_000;
export class Slot {
  readonly number: number;
  readonly #deps: SlotDeps;
  readonly #log: Log;
  readonly #stopping = new AbortController();
  #state: SlotState = 'starting';
  #sinceMs = performance.now();
  #life: Life | undefined;
  #page: OpenPage | undefined;
  /** The end of the Chrome before this one. */
  #ending: Promise<unknown> = Promise.resolve();
  #endings = 0;
  #lived: Promise<void> | undefined;

  constructor(number: number, deps: SlotDeps) {
    this.number = number;
    this.#deps = deps;
    this.#log = deps.log.child({ slot: number });
  }

  get state(): SlotState {
    return this.#state;
  }

  /** How long the render on it has run; 0 without one. */
  runningMs(): number {
    return this.#state === 'claimed' ? performance.now() - this.#sinceMs : 0;
  }

  get chrome(): Chrome | undefined {
    return this.#life?.chrome;
  }

  /** Chromes that end beside it. */
  get ending(): number {
    return this.#endings;
  }

  /** What its Chrome holds, all processes together. */
  residentBytes(): number | undefined {
    return this.#life?.watchdog.residentBytes();
  }

  /** Whether the Chrome has rendered for no account or for this one alone. */
  isFreshFor(account: string | undefined): boolean {
    const served = this.#life?.account;
    return served === undefined || (account !== undefined && served === account);
  }

  /**
   * Resolves when the slot is ready for the first time. Rejects when its first Chrome does not come
   * up; it tries again until it is stopped.
   */
  async start(): Promise<void> {
    const ready = Promise.withResolvers<void>();
    this.#lived = this.#live(ready);
    await ready.promise;
  }

  /** Hands over the page that waits. */
  claim(account?: string): SlotPage | undefined {
    const [life, page] = [this.#life, this.#page];
    if (this.#state !== 'ready' || !life || !page) return undefined;
    if (!life.chrome.connected()) {
      this.#condemn(life, new Over('unusable', CUT_OFF));
      return undefined;
    }
    page.claimed = true;
    life.account = account ?? null;
    life.renders++;
    life.watchdog.begin();
    this.#enter('claimed');
    return page;
  }

  /**
   * Gives the page back. `doubt`: what the render did that its Chrome may suffer from. Resolves
   * when the page is gone. Never throws; safe to call twice.
   */
  async release(page: SlotPage, doubt?: string): Promise<void> {
    const open = page as OpenPage;
    if (page.claimed) {
      page.claimed = false;
      this.#enter(doubt ? 'restarting' : 'closing');
      open.over.resolve(doubt === undefined ? undefined : new Over('bound', doubt));
    }
    await open.gone.promise;
  }

  /** Replaces the Chrome of a slot that is ready, because another account is next. */
  renew(): void {
    if (this.#state === 'ready' && this.#life)
      this.#condemn(this.#life, new Over('account', 'another account is next'));
  }

  /** Ends the render that runs, if one does. */
  endRender(reason: SlotEnd, message: string): void {
    if (this.#state === 'claimed') this.#page?.onEnd?.(reason, message);
  }

  /** Ends the Chrome, also one that is starting. Safe to call twice. */
  async stop(): Promise<void> {
    if (!this.#stopping.signal.aborted) {
      this.#stopping.abort();
      if (this.#life) this.#condemn(this.#life, new Over('recycle', 'the worker stops'));
      if (!this.#lived) this.#enter('stopped');
    }
    await this.#lived;
  }

  #enter(next: SlotState): void {
    this.#log.debug({ from: this.#state, to: next }, 'slot state');
    this.#state = next;
    this.#sinceMs = performance.now();
    this.#deps.onChange();
  }

  async #live(firstReady: PromiseWithResolvers<void>): Promise<void> {
    const { signal } = this.#stopping;
    let failures = 0;
    let reason: Start = 'first';
    while (!signal.aborted) {
      const waitMs = BACKOFF_MS[Math.min(failures, BACKOFF_MS.length - 1)]!;
      if (waitMs > 0) await sleep(waitMs, undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted) break;
      try {
        const life = await this.#launch(reason);
        const over = await this.#serve(life, firstReady);
        if (!isFault(over.reason)) reason = over.reason;
        else reason = byPage(over.reason) ? 'bound' : 'died';
        const wasGood = reason !== 'died' || performance.now() - life.bornMs > GOOD_LIFE_MS;
        failures = wasGood ? 0 : failures + 1;
        if (failures > 0) firstReady.reject(over);
      } catch (error) {
        if (signal.aborted) break;
        failures++;
        this.#deps.onDeath('not_started');
        // The caller of `start` logs the first failure.
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

  async #launch(reason: Start): Promise<Life> {
    const { launch, limits, onStart } = this.#deps;
    const chrome = await launch(this.#stopping.signal, this.#log);
    onStart(reason);
    const over = Promise.withResolvers<never>();
    over.promise.catch(() => {});
    const watchdog = new Watchdog({
      chrome,
      limits,
      waiting: () => (this.#state === 'ready' ? this.#page?.sessionId : undefined),
      condemn: (fault, message) => this.#condemn(life, new Over(fault, message)),
      log: this.#log,
    });
    const life: Life = {
      chrome,
      bornMs: performance.now(),
      watchdog,
      over,
      renders: 0,
      opening: undefined,
      account: undefined,
    };
    void chrome.exited.then(how => this.#condemn(life, new Over('exited', how)));
    chrome.pipe.onBrowserEvent((method, { sessionId }) => {
      if (method === 'Target.detachedFromTarget' && sessionId === this.#page?.sessionId)
        this.#onPageGone('the page closed itself');
    });
    return life;
  }

  /** A page that closes itself, or whose process dies while it opens or waits. */
  #onPageGone(message: string): void {
    const [life, page] = [this.#life, this.#page];
    if (!life) return;
    if (!page) return this.#condemn(life, new Over('unusable', `${message} while it opened`));
    if (page.claimed) page.onEnd?.('renderer_crashed', message);
    else if (this.#state === 'ready') this.#condemn(life, new Over('unusable', message));
  }

  /** The Chrome ends, and with it the render that runs in it. */
  #condemn(life: Life, over: Over): void {
    life.over.reject(over);
    if (life !== this.#life || this.#state !== 'claimed' || !isFault(over.reason)) return;
    this.#page?.onEnd?.(
      ENDS[over.reason],
      over.reason === 'exited' ? 'Chrome ended' : over.message,
    );
  }

  /** One render after another in one Chrome. Resolves with why there is no next one. */
  async #serve(life: Life, firstReady: PromiseWithResolvers<void>): Promise<Over> {
    const onCrash = () => this.#onPageGone("the page's process crashed");
    const { chrome } = life;
    const nearMemoryLimit = () => life.watchdog.nearMemoryLimit();
    const replaceChrome = (message: string) => this.#condemn(life, new Over('unusable', message));
    const pageDeps = {
      slot: this.number,
      chrome,
      openGuard: this.#deps.openGuard,
      nearMemoryLimit,
      replaceChrome,
      onCrash,
    };
    this.#life = life;
    try {
      for (;;) {
        life.opening = openPage(pageDeps);
        const page = await Promise.race([life.opening, life.over.promise]);
        this.#page = page;
        life.watchdog.ready();
        this.#enter('ready');
        firstReady.resolve();
        const doubt = await Promise.race([page.over.promise, life.over.promise]);
        life.watchdog.end();
        if (doubt) throw doubt;
        if (life.watchdog.reniced()) throw new Over('bound', 'its processes have a lower priority');
        if (chrome.pipe.overBudget())
          throw new Over('bound', 'its page made events faster than they are read');
        this.#replaceWhenWorn(life);
        this.#close(life, page);
      }
    } catch (error) {
      const over = overBy(error);
      await this.#end(life, over);
      return over;
    }
  }

  #replaceWhenWorn({ renders, watchdog }: Life): void {
    const { recycleRenders, recycleBytes } = this.#deps.limits;
    // Slots are used evenly: not all of them should restart at the same moment.
    const earlier = Math.floor(recycleRenders / 100) * ((this.number - 1) % 10);
    if (renders >= recycleRenders - earlier)
      throw new Over('recycle', `it has rendered ${renders} times`);
    const grownBytes = watchdog.grownBytes();
    if (grownBytes > recycleBytes)
      throw new Over('recycle', `it has grown by ${Math.round(grownBytes / 2 ** 20)} MiB`);
  }

  /**
   * Destroys the context beside the opening of the next one. A Chrome that cannot do it is of no
   * use.
   */
  #close(life: Life, page: OpenPage): void {
    const { pipe, sessionId, guard } = page;
    this.#page = undefined;
    pipe.unroute(sessionId);
    const disposed = disposeContext(page).catch(error => {
      this.#condemn(life, overBy(error));
      return life.chrome.close();
    });
    void Promise.all([disposed, guard.close(disposed)]).then(() => page.gone.resolve());
  }

  /** The next Chrome starts while this one ends, but there is never a third. */
  async #end(life: Life, over: Over): Promise<void> {
    const { chrome, watchdog } = life;
    const page = this.#page;
    this.#life = undefined;
    this.#page = undefined;
    watchdog.stop();
    const about = {
      pid: chrome.pid,
      why: over.message,
      livedMs: Math.round(performance.now() - life.bornMs),
      renders: life.renders,
    };
    if (isFault(over.reason)) {
      this.#log[byPage(over.reason) ? 'warn' : 'error'](about, 'chrome died');
      this.#deps.onDeath(over.reason);
    } else this.#log.info(about, 'chrome is replaced');
    if (over.reason !== 'recycle' && over.reason !== 'account') chrome.kill();
    this.#endings++;
    const closed = chrome.close().finally(() => this.#endings--);
    if (page) page.claimed = false;
    // Also a page that came up while its Chrome was given up.
    const guards = new Set([
      page?.guard,
      await life.opening?.then(({ guard }) => guard).catch(() => undefined),
    ]);
    const gone = Promise.all([closed, ...[...guards].map(guard => guard?.close(closed))]).then(() =>
      page?.gone.resolve(),
    );
    this.#enter('restarting');
    await this.#ending;
    this.#ending = gone;
  }
}
