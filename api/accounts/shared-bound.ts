// A bound on what all callers hold together, with a share for each: no caller alone can use it up
// for the others.

/**
 * Why nothing was taken: the whole is used up, or the caller is above its share and the rest is
 * kept for the others.
 */
export type BoundRefusal = 'full' | 'share';

/** Default share of a caller: four callers fill the whole, and one alone leaves a quarter free. */
const SHARE = 1 / 4;

export class SharedBound {
  readonly max: number;
  /**
   * A caller takes up to this much while there is any left; beyond it, only while as much stays
   * free afterwards.
   */
  readonly share: number;
  readonly #held = new Map<string, number>();
  #used = 0;

  constructor(max: number, share = Math.max(1, Math.floor(max * SHARE))) {
    this.max = max;
    this.share = share;
  }

  get used(): number {
    return this.#used;
  }

  /** The most that one caller can hold, when no other holds anything. */
  get maxOfOne(): number {
    return Math.max(this.share, this.max - this.share);
  }

  /** Why `take` would refuse; undefined when it would not. */
  refusal(caller: string, amount: number): BoundRefusal | undefined {
    if (this.#used + amount > this.max) return 'full';
    const aboveShare = (this.#held.get(caller) ?? 0) + amount > this.share;
    return aboveShare && this.#used + amount > this.max - this.share ? 'share' : undefined;
  }

  /** Takes `amount` for this caller, or nothing and returns why. */
  take(caller: string, amount: number): BoundRefusal | undefined {
    const refused = this.refusal(caller, amount);
    if (refused === undefined) this.hold(caller, amount);
    return refused;
  }

  /** Takes `amount` whatever is held already: for what was admitted before. */
  hold(caller: string, amount: number): void {
    this.#used += amount;
    this.#held.set(caller, (this.#held.get(caller) ?? 0) + amount);
  }

  give(caller: string, amount: number): void {
    this.#used -= amount;
    const left = (this.#held.get(caller) ?? 0) - amount;
    if (left > 0) this.#held.set(caller, left);
    else this.#held.delete(caller);
  }
}
