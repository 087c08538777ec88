// The consents of users for apps, one document each, and whether a consent is still valid. The
// adapter owns their tokens.
import type { OAuthGrantDocument, Store } from '../../store/store.ts';
import { MAY } from '../contract/permissions.ts';
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

export interface Grants {
  begin(grant: NewGrant): Promise<void>;
  /** The consent, if the user is enabled and may render in the account. Never cached. */
  valid(grantId: string): Promise<OAuthGrantDocument | undefined>;
  /** Stores that it was used now. */
  used(grant: OAuthGrantDocument): Promise<void>;
  /** Prolongs it until one of its tokens expires. */
  keepUntil(grantId: string, until: Date): Promise<void>;
  /** Newest first. */
  listOf(user: string): Promise<OAuthGrantDocument[]>;
  /**
   * Ends it and all its tokens at once; with `user`, only a consent of this user. Returns undefined
   * when there was none.
   */
  end(grantId: string, user?: string): Promise<OAuthGrantDocument | undefined>;
  /** Whether the user exists and is not disabled. */
  isEnabled(user: string): Promise<boolean>;
  /** The accounts in which the user may render, sorted by name. */
  accountsOf(user: string): Promise<{ id: string; name: string }[]>;
}

export function createGrants(store: Store, now = () => Date.now()): Grants {
  const { oauth, oauthGrants, users, teams } = store.console;
  const { limits, limited } = store;

  const isEnabled = async (user: string) =>
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
    return role !== undefined && MAY[role].includes(REQUIRED_PERMISSION);
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
      const checks = await Promise.all([
        isEnabled(grant.user),
        mayRender(grant.user, grant.account),
      ]);
      return checks.every(Boolean) ? grant : undefined;
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
      // Tokens of a deleted consent are deleted too, but not for a user who does not own it.
      if (grant || user === undefined) await limited(oauth.deleteMany({ grantId: _id }, limits));
      return grant ?? undefined;
    },
    isEnabled,
    accountsOf: async user => {
      const found = await limited(
        teams.find({ 'members.user': user }, { projection: { members: 1 }, ...limits }).toArray(),
      );
      const ids = found
        .filter(({ members }) =>
          members.some(
            member => member.user === user && MAY[member.role].includes(REQUIRED_PERMISSION),
          ),
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
