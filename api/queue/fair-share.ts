// Which account holds how many slots, now and lately. Knows no time of its own: who calls it says `nowMs`, of a monotonic clock.

/** The time constant of the mean: what was held this long ago counts a third of what is held now. Long enough to tell a flood from a burst, short enough to forgive. */
const MEMORY_MS = 10_000;

/** With more accounts than this, those that had nothing for a while are forgotten. Looking for them each time would cost more than they do. */
const MAX_KNOWN = 1_000;

export interface Shares {
  /** The account holds one slot more. */
  began(accountId: string, nowMs: number): void;
  /** The account holds one slot less. */
  ended(accountId: string, nowMs: number): void;
  /** What it holds now, and on top of it the mean of what it held, in which what was before it came counts as none. 0 for an account that had nothing for a while. */
  weight(accountId: string, nowMs: number): number;
  /** Slots that it held lately, on average, for each account that held any: since it came, when that was not long ago. */
  lately(nowMs: number): ReadonlyMap<string, number>;
}

interface Share {
  /** When it held its first. */
  sinceMs: number;
  held: number;
  /** The exponentially weighted mean of `held`, as it was at `atMs`, when `held` last changed. */
  mean: number;
  atMs: number;
}

export function createShares(): Shares {
  const shares = new Map<string, Share>();

  function meanOf({ held, mean, atMs }: Share, nowMs: number): number {
    const kept = Math.exp((atMs - nowMs) / MEMORY_MS);
    return mean * kept + held * (1 - kept);
  }

  /** The mean counts what was before it came as none, and is divided by the part of it that was after: a flood is seen in its first seconds too. */
  function averageOf(share: Share, nowMs: number): number {
    const covered = 1 - Math.exp((share.sinceMs - nowMs) / MEMORY_MS);
    return covered > 0 ? meanOf(share, nowMs) / covered : share.held;
  }

  const isForgotten = ({ held, atMs }: Share, nowMs: number) => held === 0 && nowMs - atMs > MEMORY_MS;

  function forgetOld(nowMs: number): void {
    for (const [accountId, share] of shares) if (isForgotten(share, nowMs)) shares.delete(accountId);
  }

  function change(accountId: string, by: number, nowMs: number): void {
    if (shares.size > MAX_KNOWN) forgetOld(nowMs);
    const known = shares.get(accountId);
    const share = known && !isForgotten(known, nowMs) ? known : { sinceMs: nowMs, held: 0, mean: 0, atMs: nowMs };
    shares.set(accountId, { ...share, held: share.held + by, mean: meanOf(share, nowMs), atMs: nowMs });
  }

  return {
    began: (accountId, nowMs) => change(accountId, 1, nowMs),
    ended: (accountId, nowMs) => change(accountId, -1, nowMs),
    weight(accountId, nowMs) {
      const share = shares.get(accountId);
      return !share || isForgotten(share, nowMs) ? 0 : share.held + meanOf(share, nowMs);
    },
    lately(nowMs) {
      forgetOld(nowMs);
      return new Map(shares.entries().map(([accountId, share]) => [accountId, averageOf(share, nowMs)]));
    },
  };
}
