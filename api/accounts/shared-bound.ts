// A limit on a shared resource with a fair share per caller, so that no single caller can use up
// the resource.
import { OpenCounts } from './open-counts.ts';

/**
 * Why nothing was reserved: the resource is used up, or the caller is over its fair share and the
 * rest is reserved for other callers.
 */
export type BoundRejection = 'full' | 'share';

/** Default fair share: four callers fill the resource, and one alone leaves a quarter free. */
const SHARE = 1 / 4;

export class SharedBound {
  readonly max: number;
  /**
   * A caller takes up to this much while any is left. Beyond it, the caller takes more only while
   * at least this much stays free.
   */
  readonly share: number;
  readonly #held = new OpenCounts();
  #used = 0;

  constructor(max: number, share = Math.max(1, Math.floor(max * SHARE))) {
    this.max = max;
    this.share = share;
  }

  get used(): number {
    return this.#used;
  }

  /** The most that one caller can hold when no other caller holds anything. */
  get maxOfOne(): number {
    return Math.max(this.share, this.max - this.share);
  }

  /** Why `reserve` would reserve nothing, or undefined when it would succeed. */
  rejection(caller: string, amount: number): BoundRejection | undefined {
    if (this.#used + amount > this.max) return 'full';
    const aboveShare = this.#held.of(caller) + amount > this.share;
    return aboveShare && this.#used + amount > this.max - this.share ? 'share' : undefined;
  }

  /** Reserves `amount` for this caller, or nothing and returns the reason. */
  reserve(caller: string, amount: number): BoundRejection | undefined {
    const rejection = this.rejection(caller, amount);
    if (rejection === undefined) this.hold(caller, amount);
    return rejection;
  }

  /** Reserves `amount` without a check, for work that was already admitted. */
  hold(caller: string, amount: number): void {
    this.#used += amount;
    this.#held.add(caller, amount);
  }

  release(caller: string, amount: number): void {
    this.#used -= amount;
    this.#held.add(caller, -amount);
  }
}
