// The slots of a worker: claim, drain, counts and what the status shows of them.
import type { Service } from '../../common/lifecycle.ts';
import type { Metrics } from '../../common/operations.ts';
import type { SlotEnd, WorkerStatus } from '../../common/protocol.ts';
import type { Chrome } from './chrome.ts';
import { Slot, type SlotDeps, type SlotState } from './slot.ts';
import { slotCounters, slotMetrics } from './slot-metrics.ts';
import type { SlotPage } from './slot-page.ts';

interface Deps extends Omit<SlotDeps, 'onStart' | 'onDeath'> {
  pool: string;
  capacity: number;
  /** No Chrome renders for two accounts. */
  chromePerAccount: boolean;
  metrics: Metrics;
}

/** A Chrome that is not up after this time may not start at all; another slot is tried then. */
const RENEWAL_MS = 2_000;

export class SlotPool implements Service {
  readonly name = 'chrome';
  readonly #slots: Slot[];
  readonly #deps: Deps;
  readonly #drained = Promise.withResolvers<void>();
  /** Slots whose Chrome is being replaced for a render of this account. */
  readonly #renewals = new Map<Slot, { account: string | undefined; sinceMs: number }>();
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
   * Resolves when the first slot is ready. The others follow one after another: a start takes a
   * core of CPU.
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
      // It tries again by itself.
      await slot
        .start()
        .catch(error =>
          this.#deps.log.error({ err: error, slot: slot.number }, 'chrome could not be started'),
        );
    }
  }

  /** The slot's page, or undefined when no slot is ready for this account. */
  claim(account?: string): SlotPage | undefined {
    if (this.#draining) return undefined;
    const ready = this.#slots.filter(({ state }) => state === 'ready');
    const fit = this.#deps.chromePerAccount
      ? ready.filter(slot => slot.isFreshFor(account))
      : ready;
    for (const slot of fit) {
      const page = slot.claim(account);
      if (page) return page;
    }
    // Refused now; the claim comes again, and finds this slot ready with a new Chrome.
    const isRenewing = [...this.#renewals.values()].some(
      renewal => renewal.account === account && performance.now() - renewal.sinceMs < RENEWAL_MS,
    );
    if (fit.length === 0 && ready[0] && !isRenewing) {
      this.#renewals.set(ready[0], { account, sinceMs: performance.now() });
      ready[0].renew();
    }
    return undefined;
  }

  release(page: SlotPage, doubt?: string): Promise<void> {
    return this.#slots[page.slot - 1]!.release(page, doubt);
  }

  count(state: SlotState): number {
    return this.#slots.filter(slot => slot.state === state).length;
  }

  status(): Pick<
    WorkerStatus,
    'capacity' | 'ready' | 'busy' | 'draining' | 'chrome' | 'chromeVersion'
  > {
    const [ready, busy] = [this.count('ready'), this.count('claimed')];
    // Between two renders a slot's Chrome is up, too.
    const up = ready + busy + this.count('closing') > 0;
    return {
      capacity: this.#slots.length,
      ready: this.#draining ? 0 : ready,
      busy,
      draining: this.#draining,
      chrome: up ? 'up' : this.#started ? 'down' : 'starting',
      chromeVersion: this.#version,
    };
  }

  /** The Chromes that serve now. */
  chromes(): Chrome[] {
    return this.#slots.flatMap(({ chrome }) => chrome ?? []);
  }

  /**
   * Claims nothing more, ends the Chromes that render nothing, and resolves when the last render is
   * over.
   */
  drain(): Promise<void> {
    this.#draining = true;
    this.#onChange();
    return this.#drained.promise;
  }

  /** Ends the renders that still run. */
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
