// The keys of the OAuth server: created by the first process, stored encrypted, shared by all
// processes, and rotated by an operator's command.
import { generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto';
import { createEncryption } from '../../../common/encryption.ts';
import type { Log } from '../../../common/log.ts';
import { isDuplicate, type Store } from '../../store/store.ts';

export interface OAuthKeys {
  /** Sign the cookies of pending consents: the first one signs, all are accepted. */
  cookies: string[];
  /** Private keys as JWK. The provider requires them, although no ID tokens are issued. */
  jwks: Record<string, unknown>[];
}

/** The keys of one rotation. */
export interface OAuthKey {
  cookie: string;
  jwk: Record<string, unknown>;
  /** When every process has read it. In ms since the epoch. */
  signsFromMs: number;
}

const STORED_AS = 'oauth';
const ATTEMPTS = 20;
/** Processes read new keys every minute (fresh-keys.ts); the rest covers delays and clock skew. */
const SIGNS_AFTER_MS = 3 * 60_000;
/** After its successor starts to sign. A consent takes at most an hour; the rest is clock skew. */
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

/** Drops keys that no pending consent can depend on. Newest first, as stored. */
const kept = (keys: readonly OAuthKey[], nowMs: number): OAuthKey[] =>
  keys.filter((_, index) => index === 0 || nowMs < keys[index - 1]!.signsFromMs + KEPT_MS);

/** The keys in use, the signing one first. Pure. */
export function keysInUse(keys: readonly OAuthKey[], nowMs: number): OAuthKeys {
  const valid = kept(keys, nowMs);
  // With a clock far behind, no key is due yet: use the oldest, as other processes did.
  const signing = valid.find(({ signsFromMs }) => signsFromMs <= nowMs) ?? valid.at(-1)!;
  const ordered = [signing, ...valid.filter(key => key !== signing)];
  return { cookies: ordered.map(({ cookie }) => cookie), jwks: ordered.map(({ jwk }) => jwk) };
}

/** Reads and writes the stored keys. */
function keyRing(store: Store, secret: string) {
  const encryption = createEncryption(secret, 'oauth keys');
  const { meta, limits, limited } = store;
  return {
    async read(): Promise<{ stored: string | undefined; keys: OAuthKey[] | undefined }> {
      const stored = (await limited(meta.findOne({ _id: STORED_AS }, limits)))?.sealed;
      const text = stored === undefined ? undefined : encryption.decrypt(stored);
      return { stored, keys: text === undefined ? undefined : (JSON.parse(text) as OAuthKey[]) };
    },
    /** False when another process has replaced them since they were read. */
    async write(keys: readonly OAuthKey[], stored: string | undefined): Promise<boolean> {
      const asRead = { _id: STORED_AS, sealed: stored ?? { $exists: false } };
      const encrypted = encryption.encrypt(JSON.stringify(keys));
      try {
        const written = await limited(
          meta.updateOne(
            asRead,
            { $set: { sealed: encrypted } },
            { upsert: stored === undefined, ...limits },
          ),
        );
        return written.matchedCount + written.upsertedCount === 1;
      } catch (error) {
        if (isDuplicate(error)) return false;
        throw error;
      }
    },
  };
}

const alwaysReplaced = () =>
  new Error(
    'The keys of the OAuth server keep changing: API processes with different PRESSROOM_SECRET values share one database. Set the same value everywhere.',
  );

/**
 * The shared keys, newest first; creates them when there are none. Keys encrypted with another
 * PRESSROOM_SECRET are replaced, and users with a pending consent start again.
 */
export async function oauthKeys(
  store: Store,
  secret: string,
  log: Log,
  now = () => Date.now(),
): Promise<OAuthKey[]> {
  const ring = keyRing(store, secret);
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const { stored, keys } = await ring.read();
    if (keys) return keys;
    if (stored !== undefined)
      log.warn(
        'the keys of the OAuth server were encrypted with another PRESSROOM_SECRET: creating new keys',
      );
    const made = [newKey(now())];
    if (await ring.write(made, stored)) return made;
  }
  throw alwaysReplaced();
}

/** The stored keys; undefined when there are none or another PRESSROOM_SECRET encrypted them. */
export const readOAuthKeys = async (
  store: Store,
  secret: string,
): Promise<OAuthKey[] | undefined> => (await keyRing(store, secret).read()).keys;

export interface Rotation {
  /** When the new keys start to sign. Every process has read them by then. */
  signsFrom: Date;
  /** Until when signatures of the previous keys are accepted. */
  oldUntil: Date;
  /** How many expired keys were deleted. */
  dropped: number;
}

/**
 * Adds new keys: accepted as soon as a process has read them, used for signing once all have.
 * Concurrent rotations each add keys. Returns `none` when there are no keys yet, `other secret`
 * when they were encrypted with another PRESSROOM_SECRET; both change nothing.
 */
export async function rotateOAuthKeys(
  store: Store,
  secret: string,
  now = () => Date.now(),
): Promise<Rotation | 'none' | 'other secret'> {
  const ring = keyRing(store, secret);
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const { stored, keys } = await ring.read();
    if (!keys) return stored === undefined ? 'none' : 'other secret';
    const nowMs = now();
    const stay = kept(keys, nowMs);
    // Not before an existing key, so that the order by age is the order of signing.
    const signsFromMs = Math.max(nowMs + SIGNS_AFTER_MS, stay[0]!.signsFromMs);
    if (await ring.write([newKey(signsFromMs), ...stay], stored))
      return {
        signsFrom: new Date(signsFromMs),
        oldUntil: new Date(signsFromMs + KEPT_MS),
        dropped: keys.length - stay.length,
      };
  }
  throw alwaysReplaced();
}
