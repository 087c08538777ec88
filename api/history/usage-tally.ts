// Sums renders before they are written: per account, day and key, and per minute for the whole
// installation. Pure.
import { isRejection } from '../../common/contract/errors.ts';
import type { RenderDocument, RenderMinuteDocument, UsageDayDocument } from '../store/store.ts';
import { bucketOf } from './usage-buckets.ts';

type Sums = Required<Omit<UsageDayDocument, 'flushes'>>;

export interface Tally {
  days: Map<string, Sums>;
  minutes: Map<number, Required<Pick<RenderMinuteDocument, 'ok' | 'failed' | 'rejected'>>>;
}

/** One bulk write handles this many documents easily. */
export const MAX_DAYS = 10_000;

const MINUTE_MS = 60_000;

export const newTally = (): Tally => ({ days: new Map(), minutes: new Map() });

/** False when the tally already has MAX_DAYS entries. A canceled render is not counted. */
export function addTo({ days, minutes }: Tally, render: RenderDocument): boolean {
  const { account, at, key = '', outcome, code, sandbox, pages = 0, bytes = 0, totalMs } = render;
  const minute = Math.floor(at.getTime() / MINUTE_MS) * MINUTE_MS;
  const ofMinute = minutes.get(minute) ?? { ok: 0, failed: 0, rejected: 0 };
  const error = isRejection(code) ? 'rejected' : 'failed';
  if (outcome !== 'client_closed') {
    ofMinute[outcome === 'ok' ? 'ok' : error]++;
    minutes.set(minute, ofMinute);
  }
  const day = at.toISOString().slice(0, 10);
  const name = `${account} ${day} ${key}`;
  let sums = days.get(name);
  if (!sums) {
    if (days.size >= MAX_DAYS) return false;
    sums = {
      _id: { account, day, key },
      ok: 0,
      sandbox: 0,
      failed: 0,
      rejected: 0,
      bytes: 0,
      pages: 0,
      durations: {},
      lastAt: at,
    };
    days.set(name, sums);
  }
  if (at > sums.lastAt) sums.lastAt = at;
  if (outcome === 'error') sums[error]++;
  if (outcome !== 'ok') return true;
  sums[sandbox ? 'sandbox' : 'ok']++;
  sums.pages += pages;
  sums.bytes += bytes;
  const bucket = bucketOf(totalMs);
  sums.durations[bucket] = (sums.durations[bucket] ?? 0) + 1;
  return true;
}
