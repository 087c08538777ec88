// The fair share: how many slots each account holds, now and recently. Pure: the caller passes
// `nowMs`, of a monotonic clock.

/**
 * The time constant of the mean: slots held this long ago count a third of those held now. Long
 * enough to distinguish lasting load from a burst, short enough to forget it.
 */
const MEMORY_MS = 10_000;

/**
 * With more accounts than this, those that held nothing recently are removed. Doing that each time
 * would cost more than they do.
 */
const MAX_KNOWN = 1_000;

interface Share {
  /** When it held its first. */
  sinceMs: number;
  held: number;
  /** The exponentially weighted mean of `held`, as it was at `atMs`, when `held` last changed. */
  mean: number;
  atMs: number;
}

function meanOf({ held, mean, atMs }: Share, nowMs: number): number {
  const kept = Math.exp((atMs - nowMs) / MEMORY_MS);
  return mean * kept + held * (1 - kept);
}

/**
 * The mean counts the time before the account's first slot as none, and is divided by the part of
 * it after: a lasting load is seen in its first seconds too.
 */
function averageOf(share: Share, nowMs: number): number {
  const covered = 1 - Math.exp((share.sinceMs - nowMs) / MEMORY_MS);
  return covered > 0 ? meanOf(share, nowMs) / covered : share.held;
}

const isForgotten = ({ held, atMs }: Share, nowMs: number) =>
  held === 0 && nowMs - atMs > MEMORY_MS;

export class FairShare {
  readonly #shares = new Map<string, Share>();

  /** The account holds one slot more. */
  began(accountId: string, nowMs: number): void {
    this.#change(accountId, 1, nowMs);
  }

  /** The account holds one slot less. */
  ended(accountId: string, nowMs: number): void {
    this.#change(accountId, -1, nowMs);
  }

  /**
   * The slots it holds now plus the mean of those it held, in which the time before its first
   * counts as none. 0 for an account that held nothing for a while.
   */
  weight(accountId: string, nowMs: number): number {
    const share = this.#shares.get(accountId);
    return !share || isForgotten(share, nowMs) ? 0 : share.held + meanOf(share, nowMs);
  }

  /**
   * Slots that each account held recently, on average: since its first, when that was not long ago.
   */
  recent(nowMs: number): ReadonlyMap<string, number> {
    this.#forgetOld(nowMs);
    return new Map(
      this.#shares.entries().map(([accountId, share]) => [accountId, averageOf(share, nowMs)]),
    );
  }

  #forgetOld(nowMs: number): void {
    for (const [accountId, share] of this.#shares)
      if (isForgotten(share, nowMs)) this.#shares.delete(accountId);
  }

  #change(accountId: string, by: number, nowMs: number): void {
    if (this.#shares.size > MAX_KNOWN) this.#forgetOld(nowMs);
    const known = this.#shares.get(accountId);
    const share =
      known && !isForgotten(known, nowMs)
        ? known
        : { sinceMs: nowMs, held: 0, mean: 0, atMs: nowMs };
    this.#shares.set(accountId, {
      ...share,
      held: share.held + by,
      mean: meanOf(share, nowMs),
      atMs: nowMs,
    });
  }
}
