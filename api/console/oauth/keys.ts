// The keys of the OAuth server: made once by whichever process is first, sealed, the same for all
// of them, and followed by new ones when an operator says so.
import { generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto';
import type { Log } from '../../../common/log.ts';
import { isDuplicate, type Store } from '../../store/store.ts';
import { createEncryption } from '../security/encryption.ts';

export interface OAuthKeys {
  /** Sign the cookies of a consent on its way; the first signs, all are accepted. */
  cookies: string[];
  /**
   * Private keys as JWK. Nothing is signed with them as long as there are no id tokens; the
   * provider does not start without.
   */
  jwks: Record<string, unknown>[];
}

/** One of a generation. */
export interface OAuthKey {
  cookie: string;
  jwk: Record<string, unknown>;
  /** Every process has it by then. In ms since the epoch. */
  signsFromMs: number;
}

const STORED_AS = 'oauth';
const ROUNDS = 20;
/**
 * Processes look for new keys every minute (fresh-keys.ts); the rest is for a slow database and
 * clocks that differ.
 */
const SIGNS_AFTER_MS = 3 * 60_000;
/**
 * After the next one began to sign: a consent takes an hour at most, the rest is for clocks that
 * differ.
 */
const KEPT_MS = 2 * 3600e3;

function newKey(signsFromMs: number): OAuthKey {
  const jwk = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
    format: 'jwk',
  });
  return {
    cookie: randomBytes(32).toString('base64url'),
    jwk: { ...jwk, kid: randomUUID(), alg: 'ES256', use: 'sig' },
    signsFromMs,
  };
}

/**
 * Newest first, as they are stored; a key is dropped when the next one has signed for so long that
 * nothing of its own is on its way.
 */
const kept = (keys: readonly OAuthKey[], nowMs: number): OAuthKey[] =>
  keys.filter((_, index) => index === 0 || nowMs < keys[index - 1]!.signsFromMs + KEPT_MS);

/** Which of them sign and which are accepted now. Pure. */
export function keysInUse(keys: readonly OAuthKey[], nowMs: number): OAuthKeys {
  const good = kept(keys, nowMs);
  // A clock that is far behind finds none: the oldest is the one that others signed with last.
  const signing = good.find(({ signsFromMs }) => signsFromMs <= nowMs) ?? good.at(-1)!;
  const ordered = [signing, ...good.filter(key => key !== signing)];
  return { cookies: ordered.map(({ cookie }) => cookie), jwks: ordered.map(({ jwk }) => jwk) };
}

/** Reads and writes them. */
function ringIn(store: Store, secret: string) {
  const encryption = createEncryption(secret, 'oauth keys');
  const { meta, limits, limited } = store;
  return {
    async read(): Promise<{ stored: string | undefined; keys: OAuthKey[] | undefined }> {
      const stored = (await limited(meta.findOne({ _id: STORED_AS }, limits)))?.sealed;
      const text = stored === undefined ? undefined : encryption.decrypt(stored);
      return { stored, keys: text === undefined ? undefined : (JSON.parse(text) as OAuthKey[]) };
    },
    /** False when they are not those that were read any more. */
    async write(keys: readonly OAuthKey[], stored: string | undefined): Promise<boolean> {
      const asRead = { _id: STORED_AS, sealed: stored ?? { $exists: false } };
      const sealed = encryption.encrypt(JSON.stringify(keys));
      try {
        const written = await limited(
          meta.updateOne(asRead, { $set: { sealed } }, { upsert: stored === undefined, ...limits }),
        );
        return written.matchedCount + written.upsertedCount === 1;
      } catch (error) {
        if (isDuplicate(error)) return false;
        throw error;
      }
    },
  };
}

const restless = () =>
  new Error(
    'The keys of the OAuth server change all the time: API processes with different PRESSROOM_SECRET share one database.',
  );

/**
 * The keys that all processes share, newest first. Keys that another PRESSROOM_SECRET sealed are
 * replaced: whoever is in the middle of a consent begins again.
 */
export async function oauthKeys(
  store: Store,
  secret: string,
  log: Log,
  now = () => Date.now(),
): Promise<OAuthKey[]> {
  const ring = ringIn(store, secret);
  for (let round = 0; round < ROUNDS; round += 1) {
    const { stored, keys } = await ring.read();
    if (keys) return keys;
    if (stored !== undefined)
      log.warn(
        'the keys of the OAuth server were sealed with another PRESSROOM_SECRET: new ones are made',
      );
    const made = [newKey(now())];
    if (await ring.write(made, stored)) return made;
  }
  throw restless();
}

/**
 * The keys as they are now; undefined when there are none, or another PRESSROOM_SECRET sealed them.
 */
export const readOAuthKeys = async (
  store: Store,
  secret: string,
): Promise<OAuthKey[] | undefined> => (await ringIn(store, secret).read()).keys;

export interface Rotation {
  /** From then on the new keys sign: until then every process has read them. */
  signsFrom: Date;
  /** What the keys before have signed is good until then. */
  oldUntil: Date;
  /** How many older keys were over and are gone. */
  dropped: number;
}

/**
 * Adds new keys. They are accepted as soon as a process has read them, and sign a little later,
 * when all have. Several at the same moment each add theirs. `other secret`: those that are there
 * were sealed with another PRESSROOM_SECRET, and nothing was changed; `none`: there are none yet,
 * the first call makes them.
 */
export async function rotateOAuthKeys(
  store: Store,
  secret: string,
  now = () => Date.now(),
): Promise<Rotation | 'none' | 'other secret'> {
  const ring = ringIn(store, secret);
  for (let round = 0; round < ROUNDS; round += 1) {
    const { stored, keys } = await ring.read();
    if (!keys) return stored === undefined ? 'none' : 'other secret';
    const nowMs = now();
    const stay = kept(keys, nowMs);
    // Never before one that is there: the order is that of their age.
    const signsFromMs = Math.max(nowMs + SIGNS_AFTER_MS, stay[0]!.signsFromMs);
    if (await ring.write([newKey(signsFromMs), ...stay], stored))
      return {
        signsFrom: new Date(signsFromMs),
        oldUntil: new Date(signsFromMs + KEPT_MS),
        dropped: keys.length - stay.length,
      };
  }
  throw restless();
}
