// Hashes passwords with Argon2id (PHC string format). Owns the cost, and how many hashes one process
// computes at the same time.
import PQueue from 'p-queue';
import { ApiError } from '../../../common/contract/errors.ts';
import { SharedBound } from '../../accounts/shared-bound.ts';

/** Loaded at the first sign-in, to save memory in API processes that only render. */
const argon2 = () => import('@node-rs/argon2');

/** 19 MiB and two passes take about 60 ms of one core (OWASP Password Storage Cheat Sheet). */
const COST = { memoryCost: 19 * 1_024, timeCost: 2, parallelism: 1 };
/** Each uses its memory and a core, which renders need too. */
export const AT_ONCE = 2;
/** In each of the two queues. The last of them waits for about a second. */
export const MAX_WAITING_HASHES = 32;
const RETRY_AFTER_S = 2;

const base64 = (bytes: number) => Buffer.alloc(bytes).toString('base64').replace(/=+$/, '');
/** Compared with when the user does not exist: it costs the same and matches no password. */
const DUMMY_HASH = `$argon2id$v=19$m=${COST.memoryCost},t=${COST.timeCost},p=${COST.parallelism}$${base64(16)}$${base64(32)}`;

/** `known`: signed in, or signed in on this device before. */
type CallerKind = 'known' | 'unknown';

/** `id` of the caller's fair share of the queue: the user id, or the address when unknown. */
export interface PasswordCaller {
  kind: CallerKind;
  id: string;
}

/** Higher runs first. */
const PRIORITY: Record<CallerKind, number> = { known: 1, unknown: 0 };

/** The same text may have other code points on another system (RFC 8265, section 4.2). */
const prepared = (password: string) => password.normalize('NFC');

export function createPasswords({ atOnce = AT_ONCE, maxWaiting = MAX_WAITING_HASHES } = {}) {
  const queue = new PQueue({ concurrency: atOnce });
  const queued: Record<CallerKind, SharedBound> = {
    known: new SharedBound(atOnce + maxWaiting),
    unknown: new SharedBound(atOnce + maxWaiting),
  };

  /**
   * Throws ApiError `rate_limited` when the queue is full, so that an attempt which cannot be
   * checked is not counted.
   */
  function checkCapacity({ kind, id }: PasswordCaller): void {
    if (queued[kind].rejection(id, 1) !== undefined)
      throw new ApiError(
        'rate_limited',
        'Too many sign-ins at the same time. Try again in a few seconds.',
        { retryAfterS: RETRY_AFTER_S },
      );
  }

  async function enqueue<T>(caller: PasswordCaller, work: () => Promise<T>): Promise<T> {
    checkCapacity(caller);
    const { kind, id } = caller;
    queued[kind].hold(id, 1);
    try {
      return await queue.add(work, { priority: PRIORITY[kind] });
    } finally {
      queued[kind].release(id, 1);
    }
  }

  return {
    checkCapacity,
    /**
     * For `UserDocument.password`. The caller has a session or a link and counts as known; `id` is
     * its fair share. Rejects with ApiError `rate_limited` when the queue or that share is full.
     */
    hash: (password: string, id: string) =>
      enqueue({ kind: 'known', id }, async () => (await argon2()).hash(prepared(password), COST)),
    /**
     * False without a hash, after the same time, so that timing does not reveal which users exist.
     * Known callers have their own queue, which runs first: a flood of unknown callers does not
     * delay them. Rejects as `hash` does.
     */
    verify: async (hash: string | undefined, password: string, caller: PasswordCaller) => {
      const matches = await enqueue(caller, async () =>
        (await argon2()).verify(hash ?? DUMMY_HASH, prepared(password)),
      );
      return hash !== undefined && matches;
    },
  };
}

/** Shared by the process, because the limit protects its memory and cores. */
export const passwords = createPasswords();
