// One look at an account's document: how long its arrays are and how many bytes it has, by the
// server's clock; and the rules that hold at any time.
import type { AccountDocument, Store } from '../../api/store/store.ts';

export interface Look {
  /** Lengths by path, such as `keys`; arrays in arrays are added up. */
  arrays: Record<string, number>;
  /**
   * Leases that do not end within a second: the look's clock may be a little older than what it
   * reads.
   */
  running: number;
  expired: number;
  /** How long ago the one that expired first did; 0 when none has. */
  oldestExpiredMs: number;
  /** As BSON. */
  bytes: number;
  bytesWithoutLeases: number;
  usage: number;
}

const CLOCK_MS = 1_000;
/** Id, key, end, and the names of all three: 95 bytes with an index of four digits. */
const LEASE_BYTES = 100;

function addArrays(lengths: Record<string, number>, value: unknown, path: string): void {
  if (value === null || typeof value !== 'object' || value instanceof Date) return;
  if (!Array.isArray(value))
    for (const [name, each] of Object.entries(value))
      addArrays(lengths, each, path ? `${path}.${name}` : name);
  else {
    lengths[path] = (lengths[path] ?? 0) + value.length;
    for (const each of value) addArrays(lengths, each, path);
  }
}

export async function lookAt({ accounts }: Store, accountId: string): Promise<Look> {
  const bytes = { $bsonSize: '$$ROOT' };
  const bytesWithoutLeases = {
    $bsonSize: { $setField: { field: 'leases', input: '$$ROOT', value: [] } },
  };
  const [seen] = await accounts
    .aggregate<{ document: AccountDocument; now: Date; bytes: number; bytesWithoutLeases: number }>(
      [
        { $match: { _id: accountId } },
        { $project: { _id: 0, document: '$$ROOT', now: '$$NOW', bytes, bytesWithoutLeases } },
      ],
    )
    .toArray();
  const { document, now, ...sizes } = seen!;
  const arrays: Record<string, number> = {};
  addArrays(arrays, document, '');
  const leftMs = document.leases.map(({ expires }) => expires.getTime() - now.getTime());
  return {
    ...sizes,
    arrays,
    running: leftMs.filter(ms => ms > CLOCK_MS).length,
    expired: leftMs.filter(ms => ms <= 0).length,
    oldestExpiredMs: -Math.min(0, ...leftMs),
    usage: document.usage.count,
  };
}

export interface Bounds {
  cap: number;
  /** How many expired leases an admission leaves, at most. */
  expiredKept: number;
  keepExpiredMs: number;
}

/**
 * What is wrong with `now`, in sentences. `first`: the account before its first render.
 * `sinceAdmitMs`: how long ago an admission was sent that succeeded.
 */
export function wrongWith(
  now: Look,
  first: Look,
  { cap, expiredKept, keepExpiredMs }: Bounds,
  sinceAdmitMs: number,
): string[] {
  const { leases = 0, ...others } = now.arrays;
  const { leases: _none, ...othersBefore } = first.arrays;
  const keptMs = keepExpiredMs + sinceAdmitMs + CLOCK_MS;
  // Those that expired since the last admission come on top of those that it left.
  const mostLeases = cap + expiredKept;
  const rules: [boolean, string][] = [
    [now.running <= cap, `${now.running} leases run at once; the plan allows ${cap}`],
    [leases <= mostLeases, `there are ${leases} leases; the most is ${mostLeases}`],
    [
      now.oldestExpiredMs <= keptMs,
      `a lease is there that expired ${now.oldestExpiredMs} ms ago; the most is ${Math.round(keptMs)} ms`,
    ],
    [
      JSON.stringify(others) === JSON.stringify(othersBefore),
      `other arrays were ${JSON.stringify(othersBefore)} and are ${JSON.stringify(others)}`,
    ],
    [
      now.bytesWithoutLeases === first.bytesWithoutLeases,
      `without its leases the document had ${first.bytesWithoutLeases} bytes and has ${now.bytesWithoutLeases}`,
    ],
    [
      now.bytes - now.bytesWithoutLeases <= leases * LEASE_BYTES,
      `${leases} leases take ${now.bytes - now.bytesWithoutLeases} bytes`,
    ],
  ];
  return rules.filter(([holds]) => !holds).map(([, sentence]) => sentence);
}
