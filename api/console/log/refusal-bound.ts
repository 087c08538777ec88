// How many refusals of one account are worth a line of the log: a few each second. All of them are counted.

const KEPT_EACH_SECOND = 10;
const SECOND_MS = 1_000;

/** Gives whether one more refusal of this account is to be kept. `nowMs` is monotonic. */
export function createRefusalBound(nowMs = () => performance.now()): (account: string) => boolean {
  let sinceMs = nowMs();
  let kept = new Map<string, number>();
  return account => {
    if (nowMs() - sinceMs >= SECOND_MS) {
      sinceMs = nowMs();
      kept = new Map();
    }
    const before = kept.get(account) ?? 0;
    if (before >= KEPT_EACH_SECOND) return false;
    kept.set(account, before + 1);
    return true;
  };
}
