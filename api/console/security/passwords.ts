// Hashes of passwords: Argon2id in PHC notation. Owns its cost, and how many hashes one process
// makes at the same time.
import PQueue from 'p-queue';
import { ApiError } from '../../../common/contract/errors.ts';
import { SharedBound } from '../../accounts/shared-bound.ts';

/** Loaded when somebody signs in: it is memory that an API which only renders does not need. */
const argon2 = () => import('@node-rs/argon2');

/** 19 MiB, two passes: about 60 ms of one core (OWASP's password storage cheat sheet). */
const COST = { memoryCost: 19 * 1_024, timeCost: 2, parallelism: 1 };
/** Each holds its memory and a core; renders need both too. */
export const AT_ONCE = 2;
/** In each of the two lines. The last of them waits for about a second. */
export const MAX_WAITING_HASHES = 32;
const RETRY_AFTER_S = 2;

const base64 = (bytes: number) => Buffer.alloc(bytes).toString('base64').replace(/=+$/, '');
/**
 * The hash of nobody's password: it costs what a real one does, and nothing that can be typed gives
 * it.
 */
const NOBODYS = `$argon2id$v=19$m=${COST.memoryCost},t=${COST.timeCost},p=${COST.parallelism}$${base64(16)}$${base64(32)}`;

type Who = 'known' | 'stranger';

/**
 * The caller of a hash and the id of its share of the line: a person's id, or the address of a
 * stranger.
 */
export interface Asker {
  who: Who;
  id: string;
}

/** The higher goes first. */
const PRIORITY: Record<Who, number> = { known: 1, stranger: 0 };

export interface Passwords {
  /**
   * Throws the ApiError `rate_limited` of a full line, for who would not even count a try that
   * nobody has the time to look at.
   */
  checkRoom(asker: Asker): void;
  /**
   * For `UserDocument.password`. The caller has shown a session or a link; `id` is the share that
   * it counts in. Rejects with ApiError `rate_limited` when the line or that share is full.
   */
  hash(password: string, id: string): Promise<string>;
  /**
   * Takes the same time when there is no hash, so that nobody learns who has one; false then.
   * `known`: the person is signed in, or was before on this device; such people have a line of
   * their own that goes first, so that strangers who fill theirs keep nobody of them out. Rejects
   * as `hash` does.
   */
  verify(hash: string | undefined, password: string, asker: Asker): Promise<boolean>;
}

/** The same letters typed on another system can be other code points (RFC 8265, section 4.2). */
const prepared = (password: string) => password.normalize('NFC');

export function createPasswords({
  atOnce = AT_ONCE,
  maxWaiting = MAX_WAITING_HASHES,
} = {}): Passwords {
  const queue = new PQueue({ concurrency: atOnce });
  const lines: Record<Who, SharedBound> = {
    known: new SharedBound(atOnce + maxWaiting),
    stranger: new SharedBound(atOnce + maxWaiting),
  };

  function checkRoom({ who, id }: Asker): void {
    if (lines[who].refusal(id, 1) !== undefined)
      throw new ApiError(
        'rate_limited',
        'Too many people sign in at this moment. Try again in a few seconds.',
        {
          retryAfterS: RETRY_AFTER_S,
        },
      );
  }

  async function inTurn<T>(asker: Asker, work: () => Promise<T>): Promise<T> {
    checkRoom(asker);
    const { who, id } = asker;
    lines[who].hold(id, 1);
    try {
      return await queue.add(work, { priority: PRIORITY[who] });
    } finally {
      lines[who].give(id, 1);
    }
  }

  return {
    checkRoom,
    hash: (password, id) =>
      inTurn({ who: 'known', id }, async () => (await argon2()).hash(prepared(password), COST)),
    verify: async (hash, password, asker) => {
      const good = await inTurn(asker, async () =>
        (await argon2()).verify(hash ?? NOBODYS, prepared(password)),
      );
      return hash !== undefined && good;
    },
  };
}

/** The process's one line: what is bounded is the machine's memory and cores, whoever asks. */
export const passwords: Passwords = createPasswords();
