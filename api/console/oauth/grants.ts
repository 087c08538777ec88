// The consents of users for apps, one document each, and whether a consent is still valid. The
// adapter owns their tokens.
import type { OAuthGrantDocument, Store, TeamDocument } from '../../store/store.ts';
import { MAY } from '../contract/permissions.ts';
import { accountNames } from '../kit/account-names.ts';
import { SCOPE } from './access.ts';

/** The permission that a role needs to authorize an app. */
const REQUIRED_PERMISSION = 'playground.render';
/** The least time between two writes of `lastUsedAt`. */
const TOUCH_EVERY_MS = 60_000;
/** A consent whose code is not redeemed expires after this time. */
const UNREDEEMED_MS = 10 * 60_000;

/** The name of an app in the audit log: its own name, or else its id. */
export const appName = ({
  clientName,
  clientId,
}: Pick<OAuthGrantDocument, 'clientName' | 'clientId'>): string => clientName || clientId;

export type NewGrant = Pick<
  OAuthGrantDocument,
  '_id' | 'user' | 'account' | 'clientId' | 'clientName' | 'redirect'
>;

export type Grants = ReturnType<typeof createGrants>;

/** Whether the role of the user in this team may authorize an app. */
const mayRender = (members: TeamDocument['members'], user: string): boolean =>
  members.some(member => member.user === user && MAY[member.role].includes(REQUIRED_PERMISSION));

export function createGrants(store: Store) {
  const { oauth, oauthGrants, users, teams } = store.console;
  const { limits, limited } = store;

  /** Whether the user exists and is not disabled. */
  const isEnabled = async (user: string) =>
    (await limited(
      users.countDocuments({ _id: user, disabled: { $ne: true } }, { limit: 1, ...limits }),
    )) > 0;

  async function mayRenderIn(_id: string, user: string): Promise<boolean> {
    const team = await limited(
      teams.findOne({ _id, 'members.user': user }, { projection: { members: 1 }, ...limits }),
    );
    return team !== null && mayRender(team.members, user);
  }

  return {
    begin: async (grant: NewGrant) => {
      const at = Date.now();
      const document = {
        ...grant,
        scope: SCOPE,
        createdAt: new Date(at),
        expiresAt: new Date(at + UNREDEEMED_MS),
      };
      await limited(oauthGrants.insertOne(document, limits));
    },
    /** The consent, if the user is enabled and may render in the account. Never cached. */
    valid: async (grantId: string) => {
      const grant = await limited(
        oauthGrants.findOne({ _id: grantId, expiresAt: { $gt: new Date() } }, limits),
      );
      if (!grant) return undefined;
      const checks = await Promise.all([
        isEnabled(grant.user),
        mayRenderIn(grant.account, grant.user),
      ]);
      return checks.every(Boolean) ? grant : undefined;
    },
    /** Stores that it was used now. */
    used: async ({ _id, lastUsedAt }: OAuthGrantDocument) => {
      const at = Date.now();
      if (lastUsedAt && at - lastUsedAt.getTime() < TOUCH_EVERY_MS) return;
      await limited(oauthGrants.updateOne({ _id }, { $max: { lastUsedAt: new Date(at) } }, limits));
    },
    /** Prolongs it until one of its tokens expires. */
    keepUntil: async (_id: string, until: Date) =>
      void (await limited(oauthGrants.updateOne({ _id }, { $max: { expiresAt: until } }, limits))),
    /** Newest first. */
    listOf: (user: string) =>
      limited(
        oauthGrants
          .find({ user, expiresAt: { $gt: new Date() } }, { sort: { createdAt: -1 }, ...limits })
          .toArray(),
      ),
    /**
     * Ends it and all its tokens at once; with `user`, only a consent of this user. Returns
     * undefined when there was none.
     */
    end: async (_id: string, user?: string) => {
      const grant = await limited(
        oauthGrants.findOneAndDelete({ _id, ...(user !== undefined && { user }) }, limits),
      );
      // Tokens of a deleted consent are deleted too, but not for a user who does not own it.
      if (grant || user === undefined) await limited(oauth.deleteMany({ grantId: _id }, limits));
      return grant ?? undefined;
    },
    isEnabled,
    /** The accounts in which the user may render, sorted by name. */
    accountsOf: async (user: string) => {
      const found = await limited(
        teams.find({ 'members.user': user }, { projection: { members: 1 }, ...limits }).toArray(),
      );
      const ids = found.filter(({ members }) => mayRender(members, user)).map(({ _id }) => _id);
      return [...(await accountNames(store, ids))].map(([id, name]) => ({ id, name }));
    },
  };
}
