// How the first person gets in: a link with a token that works once, while there is nobody yet. Owns the tokens; the page is pages/setup.ts.
import type { Store } from '../../store/store.ts';
import { createToken, hashToken, isToken } from '../security/tokens.ts';

const LASTS_MS = 24 * 3600e3;
/** Of processes that started one after the other; the oldest go. */
const MAX_TOKENS = 20;
const ID = 'setup';

export interface Setup {
  /** Whether there is nobody yet. */
  needed(): Promise<boolean>;
  /** The text of a new token, which is stored nowhere. */
  createToken(): Promise<string>;
  /** Uses up the token, and with it all others: of several at once one gets true. */
  use(token: string): Promise<boolean>;
  /** Whether it could be used now. */
  isGood(token: string): Promise<boolean>;
}

export function createSetup(store: Store, now = () => Date.now()): Setup {
  const { meta, limits, limited } = store;
  const withToken = (token: string) => ({
    _id: ID,
    tokens: { $elemMatch: { hash: hashToken(token), expires: { $gt: new Date(now()) } } },
  });

  return {
    needed: async () => (await limited(store.console.users.findOne({}, { projection: { _id: 1 }, ...limits }))) === null,
    createToken: async () => {
      const token = createToken();
      const made = { hash: hashToken(token), expires: new Date(now() + LASTS_MS) };
      await limited(
        meta.updateOne({ _id: ID }, { $push: { tokens: { $each: [made], $slice: -MAX_TOKENS } } }, { upsert: true, ...limits }),
      );
      return token;
    },
    use: async token =>
      isToken(token) && (await limited(meta.findOneAndUpdate(withToken(token), { $set: { tokens: [] } }, limits))) !== null,
    isGood: async token => isToken(token) && (await limited(meta.findOne(withToken(token), limits))) !== null,
  };
}
