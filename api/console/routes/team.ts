// The routes for the team of an account: members, their roles, and invitations.
import type { InvitationDocument } from '../../store/store.ts';
import { invited, newInvitation, roleChange, team } from '../contract/users.ts';
import { type ConsoleRoute, route } from '../kit/route.ts';
import type { Audit } from '../security/audit.ts';
import { type Invitations, isOpen } from '../users/invitations.ts';
import type { Teams, TeamUser } from '../users/teams.ts';

interface Deps {
  publicUrl: string;
  teams: Teams;
  invitations: Invitations;
  audit: Audit;
}

/** The token is in the fragment, which browsers send to no server and no other site. */
export const invitationLink = (publicUrl: string, token: string) =>
  `${publicUrl}/app/invitation#${token}`;

const nameOf = (user: TeamUser | undefined) => user?.name ?? 'Deleted user';

export const shownInvitation = (
  { id, email, role, createdAt, expiresAt }: InvitationDocument,
  invitedBy: string,
) => ({
  id,
  email,
  role,
  invitedBy,
  createdAt: createdAt.toISOString(),
  expiresAt: expiresAt.toISOString(),
});

export const teamRoutes = (deps: Deps): ConsoleRoute[] => [
  showTeam(deps),
  createInvitation(deps),
  revokeInvitation(deps),
  changeRole(deps),
  removeMember(deps),
];

const showTeam = ({ teams }: Deps) =>
  route({
    method: 'get',
    path: '/accounts/:account/team',
    id: 'team',
    summary: 'List the members and the open invitations.',
    access: { permission: 'team.read' },
    answer: team,
    handle: async ({ account, signedIn }) => {
      const { members, invitations } = await teams.of(account.id);
      const users = await teams.usersOf([
        ...members.map(({ user }) => user),
        ...invitations.map(({ by }) => by),
      ]);
      return {
        members: members.map(({ user, role, since }) => ({
          user,
          name: nameOf(users.get(user)),
          email: users.get(user)?.email ?? '',
          role,
          since: since.toISOString(),
          lastSignInAt: users.get(user)?.lastSignInAt?.toISOString() ?? null,
          you: user === signedIn.user.id,
        })),
        invitations: invitations
          .filter(each => isOpen(each, Date.now()))
          .map(each => shownInvitation(each, nameOf(users.get(each.by)))),
      };
    },
  });

const createInvitation = ({ publicUrl, invitations, audit }: Deps) =>
  route({
    method: 'post',
    path: '/accounts/:account/team/invitations',
    id: 'invite',
    summary: 'Invite a user. Returns a link that works once and expires after 7 days.',
    access: { permission: 'team.write' },
    body: newInvitation,
    answer: invited,
    status: 201,
    handle: async call => {
      const { email, role } = call.body;
      const { invitation, token } = await invitations.create(call.account.id, {
        email,
        role,
        by: call.signedIn.user.id,
      });
      await audit.record(call, { action: 'invitation.created', target: email, details: { role } });
      return {
        invitation: shownInvitation(invitation, call.signedIn.user.name),
        link: invitationLink(publicUrl, token),
      };
    },
  });

const revokeInvitation = ({ invitations, audit }: Deps) =>
  route({
    method: 'delete',
    path: '/accounts/:account/team/invitations/:invitation',
    id: 'revokeInvitation',
    summary: 'Revoke an invitation. Its link stops working.',
    access: { permission: 'team.write' },
    answer: 'none',
    handle: async call => {
      const { email, role } = await invitations.revoke(
        call.account.id,
        call.signedIn.user.id,
        call.params['invitation']!,
      );
      await audit.record(call, { action: 'invitation.revoked', target: email, details: { role } });
    },
  });

const changeRole = ({ teams, audit }: Deps) =>
  route({
    method: 'patch',
    path: '/accounts/:account/team/members/:user',
    id: 'changeRole',
    summary: 'Change the role of a member. Only owners can add or remove owners.',
    access: { permission: 'team.write' },
    body: roleChange,
    answer: 'none',
    handle: async call => {
      const id = call.params['user']!;
      const { role } = call.body;
      const before = await teams.setRole(call.account.id, call.signedIn.user.id, id, role);
      const user = (await teams.usersOf([id])).get(id);
      if (before !== role)
        await audit.record(call, {
          action: 'member.role_changed',
          target: user?.email ?? id,
          details: { before, role },
        });
    },
  });

const removeMember = ({ teams, audit }: Deps) =>
  route({
    method: 'delete',
    path: '/accounts/:account/team/members/:user',
    id: 'removeMember',
    summary: 'Remove a member, or leave the account.',
    // Any member may leave; `Teams.remove` checks who may remove others.
    access: { permission: 'team.read' },
    answer: 'none',
    handle: async call => {
      const id = call.params['user']!;
      const own = id === call.signedIn.user.id;
      const role = await teams.remove(call.account.id, call.signedIn.user.id, id);
      const user = (await teams.usersOf([id])).get(id);
      await audit.record(call, {
        action: own ? 'member.left' : 'member.removed',
        target: user?.email ?? id,
        details: { role },
      });
    },
  });
