// Invitations into a team by a link that works once. Owns the token, how long it lives, and that it
// is for one address; the page is pages/invitation.ts.

import { ApiError } from '../../../common/contract/errors.ts';
import { randomBase62 } from '../../accounts/keys.ts';
import type { InvitationDocument, Role, Store, TeamDocument } from '../../store/store.ts';
import { createToken, hashToken, isToken } from '../security/tokens.ts';
import { checkMayGive, MAX_INVITATIONS, MAX_MEMBERS } from './team-rules.ts';
import type { Teams } from './teams.ts';

const DAYS = 7;
export const INVITATION_MS = DAYS * 24 * 3600e3;

export interface NewInvitation {
  email: string;
  role: Role;
  /** The id of the user who invites. */
  by: string;
  /** Who runs the installation invites into every account, and need not be a member. */
  asOperator?: boolean;
}

/** An invitation that can be accepted now. */
export interface OpenInvitation {
  account: { id: string; name: string };
  invitation: InvitationDocument;
}

export interface Invitations {
  /**
   * `token` is for the link and is stored nowhere. One open invitation an address: a new one takes
   * the place of the former. Throws ApiError `forbidden` for a role that `by` may not give,
   * `conflict` for who is a member already and for a full team.
   */
  create(
    account: string,
    invitation: NewInvitation,
  ): Promise<{ invitation: InvitationDocument; token: string }>;
  /** Throws ApiError `not_found`, or `forbidden` when only an owner may take it back. */
  revoke(account: string, actor: string, id: string): Promise<InvitationDocument>;
  /** Undefined for a token that is unknown, used, revoked or too old. */
  find(token: string): Promise<OpenInvitation | undefined>;
  /**
   * Makes the person a member, once. Undefined when there is no such invitation any more. Throws
   * ApiError `forbidden` for another person than was invited and for one who is disabled,
   * `conflict` for a full team.
   */
  accept(token: string, userId: string): Promise<OpenInvitation | undefined>;
}

export const isOpen = ({ expiresAt }: InvitationDocument, now: number): boolean =>
  expiresAt.getTime() > now;

const full = () =>
  new ApiError(
    'conflict',
    `An account has at most ${MAX_MEMBERS} members. Remove one who is not there any more.`,
  );

export function createInvitations(store: Store, teams: Teams, now = () => Date.now()): Invitations {
  const { limits, limited } = store;

  const open = (team: TeamDocument) => team.invitations.filter(each => isOpen(each, now()));

  async function create(account: string, { email, role, by, asOperator = false }: NewInvitation) {
    const invited = await limited(
      store.console.users.findOne({ email }, { projection: { _id: 1 }, ...limits }),
    );
    const token = createToken();
    const at = now();
    const invitation: InvitationDocument = {
      id: `inv_${randomBase62(16)}`,
      hash: hashToken(token),
      email,
      role,
      by,
      createdAt: new Date(at),
      expiresAt: new Date(at + INVITATION_MS),
    };
    await teams.change(account, team => {
      if (!asOperator) checkMayGive(team.members, by, role);
      if (team.members.some(({ user }) => user === invited?._id))
        throw new ApiError(
          'conflict',
          `${email} is a member of this account already. Change the role in the list of members.`,
        );
      if (team.members.length >= MAX_MEMBERS) throw full();
      const former = open(team).find(each => each.email === email);
      // Else an admin could make an owner's invitation worthless, and invite the same person as
      // less.
      if (former && !asOperator) checkMayGive(team.members, by, former.role);
      const others = open(team).filter(each => each !== former);
      if (others.length >= MAX_INVITATIONS)
        throw new ApiError(
          'conflict',
          `There are ${MAX_INVITATIONS} open invitations already. Revoke one that is not needed any more.`,
        );
      return { invitations: [...others, invitation] };
    });
    return { invitation, token };
  }

  async function revoke(account: string, actor: string, id: string): Promise<InvitationDocument> {
    const find = (team: TeamDocument) => {
      const found = open(team).find(each => each.id === id);
      if (!found)
        throw new ApiError(
          'not_found',
          'There is no such open invitation in this account. Look at the team again.',
        );
      return found;
    };
    const before = await teams.change(account, team => {
      const found = find(team);
      checkMayGive(team.members, actor, found.role);
      return { invitations: team.invitations.filter(each => each !== found) };
    });
    return find(before);
  }

  async function find(token: string): Promise<OpenInvitation | undefined> {
    if (!isToken(token)) return undefined;
    const hash = hashToken(token);
    const team = await limited(store.console.teams.findOne({ 'invitations.hash': hash }, limits));
    const invitation = team?.invitations.find(each => each.hash === hash && isOpen(each, now()));
    const account =
      invitation &&
      (await limited(
        store.accounts.findOne({ _id: team!._id }, { projection: { name: 1 }, ...limits }),
      ));
    return account
      ? { account: { id: account._id, name: account.name }, invitation: invitation! }
      : undefined;
  }

  async function accept(token: string, userId: string): Promise<OpenInvitation | undefined> {
    const found = await find(token);
    if (!found) return undefined;
    const { hash, email, role } = found.invitation;
    const user = await limited(
      store.console.users.findOne(
        { _id: userId, email, disabled: { $ne: true } },
        { projection: { _id: 1 }, ...limits },
      ),
    );
    if (!user)
      throw new ApiError(
        'forbidden',
        `This invitation is for ${email}. Sign in with that address.`,
      );
    let gone = false;
    await teams.change(found.account.id, team => {
      gone = !open(team).some(each => each.hash === hash);
      if (gone) return { invitations: open(team) };
      const invitations = team.invitations.filter(each => each.hash !== hash);
      if (team.members.some(member => member.user === userId)) return { invitations };
      if (team.members.length >= MAX_MEMBERS) throw full();
      return {
        invitations,
        members: [...team.members, { user: userId, role, since: new Date(now()) }],
      };
    });
    return gone ? undefined : found;
  }

  return { create, revoke, find, accept };
}
