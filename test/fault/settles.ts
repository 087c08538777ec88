// Runs pairs of admit and settle on one account, which must count exactly and leave the account's
// document at its size.
import type { LeaseTimes } from '../../api/leases/mongo-leases.ts';
import { type Look, lookAt, wrongWith } from './account-look.ts';
import type { Chance } from './harness/random.ts';
import { type Pair, settleCallers, type Tally } from './settle-callers.ts';
import { settleFixture } from './settle-fixture.ts';

const LOOKS = 100;
const PARTS = 10;

export interface SettleReport {
  /** Violated invariants, as sentences. */
  violations: string[];
  tally: Tally;
  /** The account's count at the end. */
  counted: number;
  looks: number;
  /** The maximum of all snapshots. */
  most: { leases: number; expired: number; bytes: number };
  last: Look;
  /** Pairs per second in each tenth of the run. */
  perSecond: number[];
}

interface SettleOptions {
  /** Number of pairs. */
  count: number;
  chance: Chance;
  times?: Partial<LeaseTimes>;
  /** Receives a line for each tenth. */
  report?: (line: string) => void;
}

const UNCOUNTED = [
  'a render could not be counted: its lease is gone',
  'a render was delivered but could not be counted',
];

export async function settles({
  count,
  chance,
  times,
  report = () => {},
}: SettleOptions): Promise<SettleReport> {
  const fixture = await settleFixture(times);
  try {
    const { store, caller, bounds, logged } = fixture;
    const { callers, tally, settled } = settleCallers(fixture, chance);
    const first = await lookAt(store, caller.accountId);
    const violations: string[] = [];
    const most = { leases: 0, expired: 0, bytes: 0 };
    const perSecond: number[] = [];
    let last = first;
    let looks = 0;
    let begun = 0;
    let ended = 0;
    let partBeganMs = performance.now();

    async function look(admitSentMs: number): Promise<void> {
      const { answered } = tally;
      last = await lookAt(store, caller.accountId);
      looks += 1;
      violations.push(...wrongWith(last, first, bounds, performance.now() - admitSentMs));
      if (last.usage < answered)
        violations.push(
          `${answered} renders were confirmed as counted, but the account has ${last.usage}`,
        );
      if (last.usage > tally.sent)
        violations.push(`${tally.sent} renders were settled, but the account has ${last.usage}`);
      most.leases = Math.max(most.leases, last.arrays['leases']!);
      most.expired = Math.max(most.expired, last.expired);
      most.bytes = Math.max(most.bytes, last.bytes);
    }

    function endPart(): void {
      const now = performance.now();
      perSecond.push((count / PARTS / (now - partBeganMs)) * 1_000);
      partBeganMs = now;
      const { arrays, running, expired, bytes } = last;
      report(
        `${String(perSecond.length * PARTS).padStart(3)} %  ${perSecond.at(-1)!.toFixed(0)} pairs/s, ${arrays['leases']} leases (${running} running, ${expired} expired), ${bytes} bytes`,
      );
    }

    async function call(pair: Pair): Promise<void> {
      while (begun < count && violations.length === 0) {
        begun += 1;
        const admitSentMs = await pair();
        ended += 1;
        const nth = ended;
        if (nth % Math.ceil(count / LOOKS) === 0) await look(admitSentMs);
        if (nth % Math.ceil(count / PARTS) === 0) endPart();
      }
    }

    await Promise.all(
      callers.map(pair => call(pair).catch(error => violations.push((error as Error).message))),
    );
    await settled();
    const admitSentMs = await callers[0]!();
    await look(admitSentMs);
    if (last.usage !== tally.sent)
      violations.push(`${tally.sent} renders were settled, but the account counts ${last.usage}`);
    for (const line of UNCOUNTED)
      if (logged.has(line)) violations.push(`logged ${logged.get(line)} times: ${line}`);
    return {
      violations: [...new Set(violations)],
      tally,
      counted: last.usage,
      looks,
      most,
      last,
      perSecond,
    };
  } finally {
    await fixture.close();
  }
}
