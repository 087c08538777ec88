// Where oidc-provider keeps what it must find again: MongoDB, shared by all API processes. What is
// stored is encrypted, and named by a hash.
import type { OAuthDocument, Store } from '../../store/store.ts';
import type { Encryption } from '../security/encryption.ts';
import { hashToken } from '../security/tokens.ts';
import { REPEAT_MS, type RefreshTokens } from './refresh-tokens.ts';

/** A registered client that nobody has allowed anything goes after so long, */
const UNUSED_CLIENT_MS = 30 * 24 * 3600e3;
/** and one that somebody uses so long after the last token. */
const USED_CLIENT_MS = 400 * 24 * 3600e3;

/** What lives as long as a consent. */
const TOKENS: ReadonlySet<string> = new Set(['AuthorizationCode', 'AccessToken', 'RefreshToken']);

type Payload = Record<string, unknown> & {
  grantId?: string;
  uid?: string;
  clientId?: string;
  rotations?: number;
};

/** What oidc-provider asks of a storage. Times are in seconds. */
export interface Adapter {
  upsert(id: string, payload: Payload, expiresInS?: number): Promise<void>;
  find(id: string): Promise<Payload | undefined>;
  findByUid(uid: string): Promise<Payload | undefined>;
  findByUserCode(): Promise<undefined>;
  consume(id: string): Promise<void>;
  destroy(id: string): Promise<void>;
  revokeByGrantId(grantId: string): Promise<void>;
}

interface Deps {
  store: Store;
  encryption: Encryption;
  refreshTokens: RefreshTokens;
  /** A token of the consent lives until then. */
  keepGrant(grantId: string, until: Date): Promise<void>;
  /** Ends the consent and all that came of it. */
  endGrant(grantId: string): Promise<void>;
  /** What is thrown when something that works once was used by somebody else at the same moment. */
  alreadyUsed(): Error;
  /** Hears of a refresh token that was used once more in time. */
  onRepeated(): void;
}

/** The name of a document. */
export const documentId = (kind: string, id: string): string => `${kind}:${hashToken(id)}`;

/** The document's payload, when it is not over and this installation encrypted it. */
export function openPayload(
  encryption: Encryption,
  document: OAuthDocument | null,
): Payload | undefined {
  const text = document ? encryption.decrypt(document.payload, document._id) : undefined;
  if (text === undefined) return undefined;
  const payload = JSON.parse(text) as Payload;
  return document?.consumedAt
    ? { ...payload, consumed: Math.floor(document.consumedAt.getTime() / 1_000) }
    : payload;
}

/** One adapter a kind of thing. */
export function createAdapter(deps: Deps, now = () => Date.now()): (kind: string) => Adapter {
  const { store, encryption, refreshTokens, keepGrant, endGrant, alreadyUsed, onRepeated } = deps;
  const { oauth } = store.console;
  const { limits, limited } = store;
  const living = () => ({ $gt: new Date(now()) });
  const keepClient = (clientId: string) =>
    limited(
      oauth.updateOne(
        { _id: documentId('Client', clientId) },
        { $max: { expiresAt: new Date(now() + USED_CLIENT_MS) } },
        limits,
      ),
    );

  /**
   * Whether a refresh token that was used may be used once more, for the same successor: when it
   * has none, nothing ever came of its use; when nobody has used that one, the answer may have got
   * lost a moment ago. After that it is a theft
   * (https://www.rfc-editor.org/rfc/rfc9700#section-4.14.2).
   */
  async function mayRepeat(document: OAuthDocument): Promise<boolean> {
    const { grantId, rotations = 0 } = openPayload(encryption, document) ?? {};
    if (grantId === undefined) return false;
    const _id = documentId('RefreshToken', refreshTokens.idOf(grantId, rotations + 1));
    const successor = await limited(
      oauth.findOne({ _id }, { projection: { consumedAt: 1 }, ...limits }),
    );
    return (
      !successor || (!successor.consumedAt && now() - document.consumedAt!.getTime() < REPEAT_MS)
    );
  }
  const repeats = async (kind: string, document: OAuthDocument | null): Promise<boolean> =>
    kind === 'RefreshToken' && document?.consumedAt !== undefined && (await mayRepeat(document));

  return kind => ({
    upsert: async (id, payload, expiresInS) => {
      const _id = documentId(kind, id);
      const expiresAt = new Date(
        now() + (expiresInS === undefined ? UNUSED_CLIENT_MS : expiresInS * 1_000),
      );
      const { grantId, uid } = payload;
      const set: Omit<OAuthDocument, '_id'> = {
        payload: encryption.encrypt(JSON.stringify(payload), _id),
        expiresAt,
      };
      // A consent names itself, so that what ends it takes it along.
      const of = kind === 'Grant' ? id : grantId;
      if (of !== undefined) set.grantId = of;
      if (uid !== undefined) set.uid = hashToken(uid);
      await limited(oauth.updateOne({ _id }, { $set: set }, { upsert: true, ...limits }));
      if (!TOKENS.has(kind) || grantId === undefined) return;
      await keepGrant(grantId, expiresAt);
      if (kind === 'RefreshToken' && payload.clientId) await keepClient(payload.clientId);
    },
    find: async id => {
      const document = await limited(
        oauth.findOne({ _id: documentId(kind, id), expiresAt: living() }, limits),
      );
      const payload = openPayload(encryption, document);
      if (payload && (await repeats(kind, document))) delete payload['consumed'];
      return payload;
    },
    findByUid: async uid =>
      openPayload(
        encryption,
        await limited(oauth.findOne({ uid: hashToken(uid), expiresAt: living() }, limits)),
      ),
    // Only devices without a browser have such codes, and none are let in.
    findByUserCode: async () => undefined,
    consume: async id => {
      const _id = documentId(kind, id);
      const unused = { _id, consumedAt: { $exists: false } };
      const written = await limited(
        oauth.updateOne(unused, { $set: { consumedAt: new Date(now()) } }, limits),
      );
      if (written.matchedCount === 1) return;
      const document = await limited(oauth.findOne({ _id }, limits));
      if (await repeats(kind, document)) return onRepeated();
      // Two at the same moment are a theft as much as one after the other.
      if (document?.grantId) await endGrant(document.grantId);
      throw alreadyUsed();
    },
    destroy: async id =>
      void (await limited(oauth.deleteOne({ _id: documentId(kind, id) }, limits))),
    revokeByGrantId: endGrant,
  });
}
