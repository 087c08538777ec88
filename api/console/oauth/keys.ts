// The keys of the OAuth server: made once by whichever process is first, sealed, and the same for all of them.
import { generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto';
import type { Log } from '../../../common/log.ts';
import { isDuplicate, type Store } from '../../store/store.ts';
import { createSeal } from '../people/seal.ts';

export interface OAuthKeys {
  /** Sign the cookies of a consent on its way; the first signs, all are accepted. */
  cookies: string[];
  /** Private keys as JWK. Nothing is signed with them as long as there are no id tokens; the provider does not start without. */
  jwks: Record<string, unknown>[];
}

const MADE_BY = 'oauth';
const ROUNDS = 5;

function newKeys(): OAuthKeys {
  const jwk = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });
  return { cookies: [randomBytes(32).toString('base64url')], jwks: [{ ...jwk, kid: randomUUID(), alg: 'ES256', use: 'sig' }] };
}

/** The keys that all processes share. Keys that another PRESSROOM_SECRET sealed are replaced: whoever is in the middle of a consent begins again. */
export async function oauthKeys(store: Store, secret: string, log: Log): Promise<OAuthKeys> {
  const seal = createSeal(secret, 'oauth keys');
  const { meta, limits, limited } = store;
  for (let round = 0; round < ROUNDS; round += 1) {
    const stored = (await limited(meta.findOne({ _id: MADE_BY }, limits)))?.sealed;
    const text = stored === undefined ? undefined : seal.open(stored);
    if (text !== undefined) return JSON.parse(text) as OAuthKeys;
    if (stored !== undefined) log.warn('the keys of the OAuth server were sealed with another PRESSROOM_SECRET: new ones are made');
    const made = newKeys();
    const sealed = seal.seal(JSON.stringify(made));
    const asRead = { _id: MADE_BY, sealed: stored ?? { $exists: false } };
    try {
      const written = await limited(meta.updateOne(asRead, { $set: { sealed } }, { upsert: stored === undefined, ...limits }));
      if (written.matchedCount + written.upsertedCount === 1) return made;
    } catch (error) {
      // Another process was quicker: its keys are the ones.
      if (!isDuplicate(error)) throw error;
    }
  }
  throw new Error('The keys of the OAuth server change all the time: API processes with different PRESSROOM_SECRET share one database.');
}
