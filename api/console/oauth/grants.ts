// What people allowed apps to do in their name: one document a consent. Owns who may still act by
// it; the tokens that come of it are the adapter's.
import type { OAuthGrantDocument, Store } from '../../store/store.ts';
import { MAY } from '../contract/permissions.ts';
import { SCOPE } from './access.ts';

/** What a role must have to let an app render in its name. */
const NEEDED = 'playground.render';
/** `lastUsedAt` is written at most so often: each call would be a write otherwise. */
const TOUCH_EVERY_MS = 60_000;
/** A consent whose code nobody came for is gone by then. */
const UNREDEEMED_MS = 10 * 60_000;

/** What the audit log calls an app: its own name, or its id when it says none. */
export const appName = ({
  clientName,
  clientId,
}: Pick<OAuthGrantDocument, 'clientName' | 'clientId'>): string => clientName || clientId;

export type NewGrant = Pick<
  OAuthGrantDocument,
  '_id' | 'user' | 'account' | 'clientId' | 'clientName' | 'redirect'
>;

export interface Grants {
  begin(grant: NewGrant): Promise<void>;
  /**
   * The consent, when the person is not disabled and still may render in the account. Reads all of
   * it each time.
   */
  valid(grantId: string): Promise<OAuthGrantDocument | undefined>;
  /** Notes that it was used now. */
  used(grant: OAuthGrantDocument): Promise<void>;
  /** A token of it lives until then, and so does it. */
  keepUntil(grantId: string, until: Date): Promise<void>;
  /** The newest first. */
  listOf(user: string): Promise<OAuthGrantDocument[]>;
  /**
   * Ends it and every token that came of it, at once; `user`: only when it is theirs. Undefined
   * when there was none.
   */
  end(grantId: string, user?: string): Promise<OAuthGrantDocument | undefined>;
  /** Whether the person is there, not disabled. */
  isThere(user: string): Promise<boolean>;
  /** The accounts in which the person may render, by name. */
  accountsOf(user: string): Promise<{ id: string; name: string }[]>;
}

export function createGrants(store: Store, now = () => Date.now()): Grants {
  const { oauth, oauthGrants, users, teams } = store.console;
  const { limits, limited } = store;

  const isThere = async (user: string) =>
    (await limited(
      users.countDocuments({ _id: user, disabled: { $ne: true } }, { limit: 1, ...limits }),
    )) > 0;

  async function mayRender(user: string, account: string): Promise<boolean> {
    const team = await limited(
      teams.findOne(
        { _id: account, 'members.user': user },
        { projection: { members: 1 }, ...limits },
      ),
    );
    const role = team?.members.find(member => member.user === user)?.role;
    return role !== undefined && MAY[role].includes(NEEDED);
  }

  return {
    begin: async grant => {
      const at = now();
      const document = {
        ...grant,
        scope: SCOPE,
        createdAt: new Date(at),
        expiresAt: new Date(at + UNREDEEMED_MS),
      };
      await limited(oauthGrants.insertOne(document, limits));
    },
    valid: async grantId => {
      const grant = await limited(
        oauthGrants.findOne({ _id: grantId, expiresAt: { $gt: new Date(now()) } }, limits),
      );
      if (!grant) return undefined;
      const good = await Promise.all([isThere(grant.user), mayRender(grant.user, grant.account)]);
      return good.every(Boolean) ? grant : undefined;
    },
    used: async ({ _id, lastUsedAt }) => {
      const at = now();
      if (lastUsedAt && at - lastUsedAt.getTime() < TOUCH_EVERY_MS) return;
      await limited(oauthGrants.updateOne({ _id }, { $max: { lastUsedAt: new Date(at) } }, limits));
    },
    keepUntil: async (_id, until) =>
      void (await limited(oauthGrants.updateOne({ _id }, { $max: { expiresAt: until } }, limits))),
    listOf: user =>
      limited(
        oauthGrants
          .find(
            { user, expiresAt: { $gt: new Date(now()) } },
            { sort: { createdAt: -1 }, ...limits },
          )
          .toArray(),
      ),
    end: async (_id, user) => {
      const grant = await limited(
        oauthGrants.findOneAndDelete({ _id, ...(user !== undefined && { user }) }, limits),
      );
      // Whoever ends a consent that is not theirs ends nothing. What is left of one that is gone
      // goes too.
      if (grant || user === undefined) await limited(oauth.deleteMany({ grantId: _id }, limits));
      return grant ?? undefined;
    },
    isThere,
    accountsOf: async user => {
      const found = await limited(
        teams.find({ 'members.user': user }, { projection: { members: 1 }, ...limits }).toArray(),
      );
      const ids = found
        .filter(({ members }) =>
          members.some(member => member.user === user && MAY[member.role].includes(NEEDED)),
        )
        .map(({ _id }) => _id);
      const accounts = store.accounts.find(
        { _id: { $in: ids } },
        { projection: { name: 1 }, sort: { name: 1 }, ...limits },
      );
      return (await limited(accounts.toArray())).map(({ _id: id, name }) => ({ id, name }));
    },
  };
}
