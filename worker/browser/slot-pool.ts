// The slots of a worker: claim, release, drain, and their part of the worker's status.
import type { Service } from '../../common/lifecycle.ts';
import type { Metrics } from '../../common/operations.ts';
import type { SlotEnd, WorkerStatus } from '../../common/protocol.ts';
import type { Chrome } from './chrome.ts';
import { Slot } from './slot.ts';
import { slotCounters, slotMetrics } from './slot-metrics.ts';
import type { SlotPage } from './slot-page.ts';
import type { SlotDeps, SlotState } from './slot-state.ts';

interface Deps extends Omit<SlotDeps, keyof ReturnType<ReturnType<typeof slotCounters>>> {
  pool: string;
  capacity: number;
  /** Never render for two accounts in one Chrome. */
  chromePerAccount: boolean;
  metrics: Metrics;
}

/** If a replaced Chrome is not up after this time, another slot is renewed as well. */
const RENEWAL_MS = 2_000;

export class SlotPool implements Service {
  readonly name = 'chrome';
  readonly #slots: Slot[];
  readonly #deps: Deps;
  readonly #drained = Promise.withResolvers<void>();
  /** Slots whose Chrome is being replaced for a render of this account. */
  readonly #renewals = new Map<Slot, { account: string | undefined; sinceMs: number }>();
  /**
   * The accounts of the last static documents. When many accounts take turns, few pages would serve
   * a second document, and resetting the others would be in vain.
   */
  readonly #staticAccounts: string[] = [];
  #version = '';
  #started = false;
  #draining = false;

  constructor(deps: Deps) {
    this.#deps = deps;
    const counters = slotCounters(deps.metrics);
    const slotOf = (number: number) =>
      new Slot(number, { ...deps, ...counters(number), onChange: () => this.#onChange() });
    this.#slots = Array.from({ length: deps.capacity }, (_, index) => slotOf(index + 1));
    slotMetrics(deps.metrics, deps.pool, this.#slots);
  }

  /**
   * Resolves when the first slot is ready. The others start one by one, since each start occupies a
   * core.
   */
  async start(signal?: AbortSignal): Promise<void> {
    const [first, ...others] = this.#slots;
    const stop = () => void this.stop();
    signal?.addEventListener('abort', stop, { once: true });
    try {
      await first!.start();
    } catch (error) {
      await this.stop();
      throw error;
    } finally {
      signal?.removeEventListener('abort', stop);
    }
    void this.#startOthers(others);
  }

  async #startOthers(others: Slot[]): Promise<void> {
    for (const slot of others) {
      if (this.#draining) return;
      // The slot retries by itself.
      await slot
        .start()
        .catch(error =>
          this.#deps.log.error({ err: error, slot: slot.number }, 'chrome could not be started'),
        );
    }
  }

  /**
   * The slot's page, or undefined when no slot is ready for this account. A static document of an
   * account gets a sealed page: a warm one if there is one, else a fresh one, which is kept if the
   * account had one lately.
   */
  claim(account?: string, isStatic = false): SlotPage | undefined {
    if (this.#draining) return undefined;
    const keep = isStatic && account !== undefined && this.#isFrequent(account);
    const ready = this.#slots.filter(({ state }) => state === 'ready');
    const fit = this.#deps.chromePerAccount
      ? ready.filter(slot => slot.isFreshFor(account))
      : ready;
    // A claim closes the warm page that it does not use.
    const rank = ({ warmAccount }: Slot) =>
      warmAccount === undefined ? 1 : isStatic && warmAccount === account ? 0 : 2;
    const ranked = fit.toSorted((a, b) => rank(a) - rank(b));
    for (const slot of ranked) {
      const page = slot.claim({ account, isStatic, keep });
      if (!page) continue;
      if (isStatic && account !== undefined) this.#rememberStatic(account);
      return page;
    }
    // Reject this claim and renew a slot: the API claims again and then finds it ready.
    const isRenewing = [...this.#renewals.values()].some(
      renewal => renewal.account === account && performance.now() - renewal.sinceMs < RENEWAL_MS,
    );
    if (fit.length === 0 && ready[0] && !isRenewing) {
      this.#renewals.set(ready[0], { account, sinceMs: performance.now() });
      ready[0].renew();
    }
    return undefined;
  }

  release(page: SlotPage, replaceReason?: string, succeeded?: boolean): Promise<void> {
    return this.#slots[page.slot - 1]!.release(page, replaceReason, succeeded);
  }

  /** Whether a page that is kept for the account would probably serve its next document. */
  #isFrequent(account: string): boolean {
    const own = this.#staticAccounts.filter(each => each === account).length;
    return own > 0 && own >= this.#staticAccounts.length / (2 * this.#slots.length);
  }

  #rememberStatic(account: string): void {
    this.#staticAccounts.push(account);
    if (this.#staticAccounts.length > 4 * this.#slots.length) this.#staticAccounts.shift();
  }

  count(state: SlotState): number {
    return this.#slots.filter(slot => slot.state === state).length;
  }

  status(): Pick<
    WorkerStatus,
    'capacity' | 'ready' | 'busy' | 'warm' | 'draining' | 'chrome' | 'chromeVersion'
  > {
    const [ready, busy] = [this.count('ready'), this.count('claimed')];
    const warm = this.#draining ? [] : this.#slots.flatMap(({ warmAccount }) => warmAccount ?? []);
    // The Chrome of a closing slot is up as well.
    const up = ready + busy + this.count('closing') > 0;
    return {
      capacity: this.#slots.length,
      ready: this.#draining ? 0 : ready,
      busy,
      ...(warm.length > 0 && { warm }),
      draining: this.#draining,
      chrome: up ? 'up' : this.#started ? 'down' : 'starting',
      chromeVersion: this.#version,
    };
  }

  /** The Chromes in service. */
  chromes(): Chrome[] {
    return this.#slots.flatMap(({ chrome }) => chrome ?? []);
  }

  /** Rejects new claims, ends idle Chromes, and resolves when the last render has finished. */
  drain(): Promise<void> {
    this.#draining = true;
    this.#onChange();
    return this.#drained.promise;
  }

  /** Ends the renders that are still running. */
  endRenders(reason: SlotEnd, message: string): void {
    for (const slot of this.#slots) slot.endRender(reason, message);
  }

  async stop(): Promise<void> {
    this.#draining = true;
    await Promise.all(this.#slots.map(slot => slot.stop()));
  }

  #onChange(): void {
    for (const slot of this.#renewals.keys())
      if (slot.state === 'ready') this.#renewals.delete(slot);
    this.#started ||= this.count('ready') > 0;
    this.#version = this.chromes()[0]?.version ?? this.#version;
    this.#deps.onChange();
    if (this.#draining) this.#stopUnclaimed();
  }

  #stopUnclaimed(): void {
    for (const slot of this.#slots)
      if (slot.state !== 'claimed' && slot.state !== 'stopped') void slot.stop();
    if (this.count('stopped') === this.#slots.length) this.#drained.resolve();
  }
}
