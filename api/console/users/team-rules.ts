// What may be changed in a team, and by whom. Pure: takes the team as it is, returns its members as
// they shall be, or throws the sentence why not.
import { ApiError } from '../../../common/contract/errors.ts';
import type { Role, TeamDocument } from '../../store/store.ts';
import { MAY } from '../contract/permissions.ts';

export type Members = TeamDocument['members'];
type Invitations = TeamDocument['invitations'];

export const MAX_MEMBERS = 100;
export const MAX_INVITATIONS = 50;

const forbidden = (message: string) => new ApiError('forbidden', message);
/** For whatever a role may not do. */
export const roleForbids = (role: Role) =>
  forbidden(
    `Your role in this account (${role}) does not allow this. Ask an owner or admin of the account.`,
  );
const lastOwner = () =>
  new ApiError(
    'conflict',
    'An account is never without an owner. Make somebody else an owner first.',
  );
export const noMember = () =>
  new ApiError('not_found', 'There is no such member in this account. Look at the team again.');

const roleOf = (members: Members, user: string): Role | undefined =>
  members.find(member => member.user === user)?.role;

/** The role of who acts, as it is now: it can have been taken away since the call began. */
function actingRole(members: Members, actor: string): Role {
  const role = roleOf(members, actor);
  if (!role) throw forbidden('You are not a member of this account any more.');
  return role;
}

/**
 * Throws unless `actor` may give people `role`, or take it from them. Only owners make and unmake
 * owners.
 */
export function checkMayGive(members: Members, actor: string, role: Role): void {
  const own = actingRole(members, actor);
  if (!MAY[own].includes('team.write')) throw roleForbids(own);
  if (role === 'owner' && own !== 'owner')
    throw forbidden('Only an owner decides who is an owner.');
}

function checkOwnerLeft(members: Members): Members {
  if (!members.some(({ role }) => role === 'owner')) throw lastOwner();
  return members;
}

/** Throws ApiError `forbidden`, `not_found`, or `conflict` for the last owner. */
export function withRole(members: Members, actor: string, user: string, role: Role): Members {
  checkMayGive(members, actor, role);
  const before = roleOf(members, user);
  if (!before) throw noMember();
  checkMayGive(members, actor, before);
  return checkOwnerLeft(
    members.map(member => (member.user === user ? { ...member, role } : member)),
  );
}

/** Everybody may leave; others are removed by who may manage them. Throws as `withRole` does. */
export function without(members: Members, actor: string, user: string): Members {
  actingRole(members, actor);
  const role = roleOf(members, user);
  if (actor !== user) checkMayGive(members, actor, role ?? 'viewer');
  if (!role) throw noMember();
  return checkOwnerLeft(members.filter(member => member.user !== user));
}

/**
 * The invitations that hold on after `user` has the place in `members` that these say: a link is
 * worth what who gave it could give.
 */
export function stillGiven(invitations: Invitations, members: Members, user: string): Invitations {
  const own = roleOf(members, user);
  const mayGive = (role: Role) =>
    own !== undefined && MAY[own].includes('team.write') && (role !== 'owner' || own === 'owner');
  return invitations.filter(({ by, role }) => by !== user || mayGive(role));
}
