// The storage of oidc-provider in MongoDB, shared by all API processes. Payloads are encrypted, and
// ids are hashes.

import type { Encryption } from '../../../common/encryption.ts';
import type { OAuthDocument, Store } from '../../store/store.ts';
import { hashToken } from '../security/tokens.ts';
import { REPEAT_MS, type RefreshTokens } from './refresh-tokens.ts';

/** A registered client without a consent expires after this time. */
const UNUSED_CLIENT_MS = 30 * 24 * 3600e3;
/** A client expires this long after its last refresh token was issued. */
const USED_CLIENT_MS = 400 * 24 * 3600e3;

/** The kinds that prolong their consent. */
const TOKENS: ReadonlySet<string> = new Set(['AuthorizationCode', 'AccessToken', 'RefreshToken']);

type Payload = Record<string, unknown> & {
  grantId?: string;
  uid?: string;
  clientId?: string;
  rotations?: number;
};

/** oidc-provider's interface of a storage. Times are in seconds. */
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
  /** Prolongs the consent until a token of it expires. */
  keepGrant(grantId: string, until: Date): Promise<void>;
  /** Ends the consent and all its tokens. */
  endGrant(grantId: string): Promise<void>;
  /** The error for a second use of a single-use token. */
  alreadyUsed(): Error;
  /** Called when a refresh token is repeated within the allowed time. */
  onRepeated(): void;
}

/** The `_id` of a document. */
export const documentId = (kind: string, id: string): string => `${kind}:${hashToken(id)}`;

/** The document's payload; undefined when it cannot be decrypted with this secret. */
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

/** Returns the adapter of each kind of document. */
export function createAdapter(deps: Deps, now = () => Date.now()): (kind: string) => Adapter {
  const { store, encryption, refreshTokens, keepGrant, endGrant, alreadyUsed, onRepeated } = deps;
  const { oauth } = store.console;
  const { limits, limited } = store;
  const inFuture = () => ({ $gt: new Date(now()) });
  const keepClient = (clientId: string) =>
    limited(
      oauth.updateOne(
        { _id: documentId('Client', clientId) },
        { $max: { expiresAt: new Date(now() + USED_CLIENT_MS) } },
        limits,
      ),
    );

  /**
   * Whether a used refresh token may be used again for the same successor: it has no successor, or
   * the successor is unused and the response may have been lost less than a minute ago. Otherwise
   * it is a replay (https://www.rfc-editor.org/rfc/rfc9700#section-4.14.2).
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
  const isRepeat = async (kind: string, document: OAuthDocument | null): Promise<boolean> =>
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
      // A consent stores its own id, so that ending it deletes it too.
      const consentId = kind === 'Grant' ? id : grantId;
      if (consentId !== undefined) set.grantId = consentId;
      if (uid !== undefined) set.uid = hashToken(uid);
      await limited(oauth.updateOne({ _id }, { $set: set }, { upsert: true, ...limits }));
      if (!TOKENS.has(kind) || grantId === undefined) return;
      await keepGrant(grantId, expiresAt);
      if (kind === 'RefreshToken' && payload.clientId) await keepClient(payload.clientId);
    },
    find: async id => {
      const document = await limited(
        oauth.findOne({ _id: documentId(kind, id), expiresAt: inFuture() }, limits),
      );
      const payload = openPayload(encryption, document);
      if (payload && (await isRepeat(kind, document))) delete payload['consumed'];
      return payload;
    },
    findByUid: async uid =>
      openPayload(
        encryption,
        await limited(oauth.findOne({ uid: hashToken(uid), expiresAt: inFuture() }, limits)),
      ),
    // Only the device flow has user codes, and it is off.
    findByUserCode: async () => undefined,
    consume: async id => {
      const _id = documentId(kind, id);
      const unused = { _id, consumedAt: { $exists: false } };
      const written = await limited(
        oauth.updateOne(unused, { $set: { consumedAt: new Date(now()) } }, limits),
      );
      if (written.matchedCount === 1) return;
      const document = await limited(oauth.findOne({ _id }, limits));
      if (await isRepeat(kind, document)) return onRepeated();
      // A concurrent second use counts as a replay as well.
      if (document?.grantId) await endGrant(document.grantId);
      throw alreadyUsed();
    },
    destroy: async id =>
      void (await limited(oauth.deleteOne({ _id: documentId(kind, id) }, limits))),
    revokeByGrantId: endGrant,
  });
}
