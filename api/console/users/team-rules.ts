// The rules for changing a team. Pure: takes the current members and returns the new ones, or throws
// the reason why the change is not allowed.
import { ApiError } from '../../../common/contract/errors.ts';
import type { Role, TeamDocument } from '../../store/store.ts';
import { MAY } from '../contract/permissions.ts';

export type Members = TeamDocument['members'];
type Invitations = TeamDocument['invitations'];

export const MAX_MEMBERS = 100;
export const MAX_INVITATIONS = 50;

const forbidden = (message: string) => new ApiError('forbidden', message);
/** The role lacks the permission. */
export const roleForbids = (role: Role) =>
  forbidden(
    `Your role in this account (${role}) does not allow this. Ask an owner or admin of the account.`,
  );
const lastOwner = () =>
  new ApiError(
    'conflict',
    'An account needs at least one owner. Make another member an owner first.',
  );
export const noMember = () =>
  new ApiError('not_found', 'Member not found in this account. Reload the team and try again.');

const roleOf = (members: Members, user: string): Role | undefined =>
  members.find(member => member.user === user)?.role;

/** The current role of the actor: it may have changed since the call began. */
function actingRole(members: Members, actor: string): Role {
  const role = roleOf(members, actor);
  if (!role) throw forbidden('You are no longer a member of this account.');
  return role;
}

/** Throws unless `actor` may assign or remove `role`. Only owners manage owners. */
export function checkMayGive(members: Members, actor: string, role: Role): void {
  const own = actingRole(members, actor);
  if (!MAY[own].includes('team.write')) throw roleForbids(own);
  if (role === 'owner' && own !== 'owner') throw forbidden('Only owners can add or remove owners.');
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

/** Any member may leave; removing others needs a permission. Throws as `withRole` does. */
export function without(members: Members, actor: string, user: string): Members {
  actingRole(members, actor);
  const role = roleOf(members, user);
  if (actor !== user) checkMayGive(members, actor, role ?? 'viewer');
  if (!role) throw noMember();
  return checkOwnerLeft(members.filter(member => member.user !== user));
}

/**
 * The invitations that stay valid with the new `members`: those of `user` only for roles that the
 * user may still assign.
 */
export function validInvitations(
  invitations: Invitations,
  members: Members,
  user: string,
): Invitations {
  const own = roleOf(members, user);
  const mayAssign = (role: Role) =>
    own !== undefined && MAY[own].includes('team.write') && (role !== 'owner' || own === 'owner');
  return invitations.filter(({ by, role }) => by !== user || mayAssign(role));
}
