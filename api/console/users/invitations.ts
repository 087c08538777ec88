// Invitations to a team by a link that works once. Owns the token, its lifetime, and the check that
// the invited address accepts it. The page is pages/invitation.ts.

import { ApiError } from '../../../common/contract/errors.ts';
import { randomBase62 } from '../../accounts/keys.ts';
import type { Document, InvitationDocument, Role, Store, TeamDocument } from '../../store/store.ts';
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
  /** An operator may invite to every account without being a member of it. */
  asOperator?: boolean;
}

/** An invitation that can be accepted now. */
export interface OpenInvitation {
  account: { id: string; name: string };
  invitation: InvitationDocument;
}

export const isOpen = ({ expiresAt }: InvitationDocument, now: number): boolean =>
  expiresAt.getTime() > now;

const teamIsFull = () =>
  new ApiError(
    'conflict',
    `An account can have at most ${MAX_MEMBERS} members. Remove a member first.`,
  );

export class Invitations {
  readonly #store: Store;
  readonly #teams: Teams;
  readonly #now: () => number;

  constructor(store: Store, teams: Teams, now = () => Date.now()) {
    this.#store = store;
    this.#teams = teams;
    this.#now = now;
  }

  /**
   * Returns the token for the link, of which only the hash is stored. Replaces the open invitation
   * of the same address. Throws ApiError `forbidden` for a role that `by` may not assign,
   * `conflict` for an address that is already a member and for a full team.
   */
  async create(
    account: string,
    { email, role, by, asOperator = false }: NewInvitation,
  ): Promise<{ invitation: InvitationDocument; token: string }> {
    const invited = await this.#userId({ email });
    const token = createToken();
    const at = this.#now();
    const invitation: InvitationDocument = {
      id: `inv_${randomBase62(16)}`,
      hash: hashToken(token),
      email,
      role,
      by,
      createdAt: new Date(at),
      expiresAt: new Date(at + INVITATION_MS),
    };
    await this.#teams.change(account, team => {
      if (!asOperator) checkMayGive(team.members, by, role);
      if (team.members.some(({ user }) => user === invited))
        throw new ApiError(
          'conflict',
          `${email} is already a member of this account. Change the role in the list of members.`,
        );
      if (team.members.length >= MAX_MEMBERS) throw teamIsFull();
      const former = this.#open(team).find(each => each.email === email);
      // Otherwise an admin could replace the invitation of an owner by one with a lower role.
      if (former && !asOperator) checkMayGive(team.members, by, former.role);
      const others = this.#open(team).filter(each => each !== former);
      if (others.length >= MAX_INVITATIONS)
        throw new ApiError(
          'conflict',
          `An account can have at most ${MAX_INVITATIONS} open invitations. Revoke one first.`,
        );
      return { invitations: [...others, invitation] };
    });
    return { invitation, token };
  }

  /** Throws ApiError `not_found`, or `forbidden` when only an owner may revoke it. */
  async revoke(account: string, actor: string, id: string): Promise<InvitationDocument> {
    const find = (team: TeamDocument) => {
      const found = this.#open(team).find(each => each.id === id);
      if (!found)
        throw new ApiError(
          'not_found',
          'Invitation not found in this account. Reload the team and try again.',
        );
      return found;
    };
    const before = await this.#teams.change(account, team => {
      const found = find(team);
      checkMayGive(team.members, actor, found.role);
      return { invitations: team.invitations.filter(each => each !== found) };
    });
    return find(before);
  }

  /** Undefined for a token that is unknown, used, revoked or expired. */
  async find(token: string): Promise<OpenInvitation | undefined> {
    if (!isToken(token)) return undefined;
    const { console, accounts, limited, limits } = this.#store;
    const hash = hashToken(token);
    const team = await limited(console.teams.findOne({ 'invitations.hash': hash }, limits));
    const invitation = team?.invitations.find(
      each => each.hash === hash && isOpen(each, this.#now()),
    );
    const account =
      invitation &&
      (await limited(accounts.findOne({ _id: team!._id }, { projection: { name: 1 }, ...limits })));
    return account
      ? { account: { id: account._id, name: account.name }, invitation: invitation! }
      : undefined;
  }

  /**
   * Makes the user a member, once. Undefined when the invitation no longer exists. Throws ApiError
   * `forbidden` for a disabled user and for one with another address, `conflict` for a full team.
   */
  async accept(token: string, userId: string): Promise<OpenInvitation | undefined> {
    const found = await this.find(token);
    if (!found) return undefined;
    const { hash, email, role } = found.invitation;
    if (!(await this.#userId({ _id: userId, email, disabled: { $ne: true } })))
      throw new ApiError(
        'forbidden',
        `This invitation is for ${email}. Sign in with that address.`,
      );
    let gone = false;
    await this.#teams.change(found.account.id, team => {
      gone = !this.#open(team).some(each => each.hash === hash);
      if (gone) return { invitations: this.#open(team) };
      const invitations = team.invitations.filter(each => each.hash !== hash);
      if (team.members.some(member => member.user === userId)) return { invitations };
      if (team.members.length >= MAX_MEMBERS) throw teamIsFull();
      return {
        invitations,
        members: [...team.members, { user: userId, role, since: new Date(this.#now()) }],
      };
    });
    return gone ? undefined : found;
  }

  #open(team: TeamDocument): InvitationDocument[] {
    return team.invitations.filter(each => isOpen(each, this.#now()));
  }

  async #userId(filter: Document): Promise<string | undefined> {
    const { console, limited, limits } = this.#store;
    const found = await limited(
      console.users.findOne(filter, { projection: { _id: 1 }, ...limits }),
    );
    return found?._id;
  }
}
