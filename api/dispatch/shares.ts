// Which account holds how many slots, now and lately. Knows no time of its own: who calls it says `nowMs`, of a monotonic clock.

/** The time constant of the mean: what was held this long ago counts a third of what is held now. Long enough to tell a flood from a burst, short enough to forgive. */
const MEMORY_MS = 10_000;

export interface Shares {
  /** The account holds one slot more. */
  began(accountId: string, nowMs: number): void;
  /** The account holds one slot less. */
  ended(accountId: string, nowMs: number): void;
  /** What it holds now, and on top of it what it held lately, on average. 0 for an account that had nothing for a while. */
  weight(accountId: string, nowMs: number): number;
  /** Slots that it held lately, on average, for each account that held any. */
  lately(nowMs: number): ReadonlyMap<string, number>;
}

interface Share {
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

  const isForgotten = ({ held, atMs }: Share, nowMs: number) => held === 0 && nowMs - atMs > MEMORY_MS;

  function change(accountId: string, by: number, nowMs: number): void {
    const share = shares.get(accountId) ?? { held: 0, mean: 0, atMs: nowMs };
    shares.set(accountId, { held: share.held + by, mean: meanOf(share, nowMs), atMs: nowMs });
  }

  return {
    began: (accountId, nowMs) => change(accountId, 1, nowMs),
    ended: (accountId, nowMs) => change(accountId, -1, nowMs),
    weight(accountId, nowMs) {
      const share = shares.get(accountId);
      return !share || isForgotten(share, nowMs) ? 0 : share.held + meanOf(share, nowMs);
    },
    lately(nowMs) {
      const means = new Map<string, number>();
      for (const [accountId, share] of shares) {
        if (isForgotten(share, nowMs)) shares.delete(accountId);
        else means.set(accountId, meanOf(share, nowMs));
      }
      return means;
    },
  };
}
