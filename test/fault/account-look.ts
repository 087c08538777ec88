// A snapshot of an account's document (lengths of its arrays, size, the server's clock), and the
// invariants that hold at any time.
import type { AccountDocument, Store } from '../../api/store/store.ts';

export interface Look {
  /** Lengths by path, such as `keys`; nested arrays are summed. */
  arrays: Record<string, number>;
  /** Leases that expire in more than a second, since the snapshot's clock may be a little old. */
  running: number;
  expired: number;
  /** Time since the oldest expiry; 0 when no lease has expired. */
  oldestExpiredMs: number;
  /** As BSON. */
  bytes: number;
  bytesWithoutLeases: number;
  usage: number;
}

const CLOCK_MS = 1_000;
/** Id, key, expiry and their field names: 95 bytes with an index of four digits. */
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
  /** The most expired leases that an admission keeps. */
  expiredKept: number;
  keepExpiredMs: number;
}

/**
 * The violated invariants of `now`, as sentences. `first`: the account before its first render.
 * `sinceAdmitMs`: time since a successful admission was sent.
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
  // Leases that expired since the last admission are in addition to those that it kept.
  const mostLeases = cap + expiredKept;
  const rules: [boolean, string][] = [
    [now.running <= cap, `${now.running} leases are running; the plan allows ${cap}`],
    [leases <= mostLeases, `${leases} leases are stored; the limit is ${mostLeases}`],
    [
      now.oldestExpiredMs <= keptMs,
      `a stored lease expired ${now.oldestExpiredMs} ms ago; the limit is ${Math.round(keptMs)} ms`,
    ],
    [
      JSON.stringify(others) === JSON.stringify(othersBefore),
      `other arrays changed from ${JSON.stringify(othersBefore)} to ${JSON.stringify(others)}`,
    ],
    [
      now.bytesWithoutLeases === first.bytesWithoutLeases,
      `the document without leases changed from ${first.bytesWithoutLeases} to ${now.bytesWithoutLeases} bytes`,
    ],
    [
      now.bytes - now.bytesWithoutLeases <= leases * LEASE_BYTES,
      `${leases} leases take ${now.bytes - now.bytesWithoutLeases} bytes`,
    ],
  ];
  return rules.filter(([holds]) => !holds).map(([, sentence]) => sentence);
}
