// Who works in an account: members, their roles, and invitations.
import type { InvitationDocument } from '../../store/store.ts';
import { invited, newInvitation, roleChange, team } from '../contract/users.ts';
import { type ConsoleRoute, route } from '../kit/route.ts';
import type { Audit } from '../security/audit.ts';
import { type Invitations, isOpen } from '../users/invitations.ts';
import type { Person, Teams } from '../users/teams.ts';

interface Deps {
  publicUrl: string;
  teams: Teams;
  invitations: Invitations;
  audit: Audit;
}

/** The token stands behind the `#`: it reaches no server, no log and no other site. */
export const invitationLink = (publicUrl: string, token: string) =>
  `${publicUrl}/app/invitation#${token}`;

const nameOf = (person: Person | undefined) => person?.name ?? 'somebody who is gone';

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

export const teamRoutes = ({ publicUrl, teams, invitations, audit }: Deps): ConsoleRoute[] => [
  route({
    method: 'get',
    path: '/accounts/:account/team',
    id: 'team',
    summary: 'The members and the open invitations',
    access: { permission: 'team.read' },
    answer: team,
    handle: async ({ account, signedIn }) => {
      const found = await teams.of(account.id);
      const people = await teams.people([
        ...found.members.map(({ user }) => user),
        ...found.invitations.map(({ by }) => by),
      ]);
      return {
        members: found.members.map(({ user, role, since }) => ({
          user,
          name: nameOf(people.get(user)),
          email: people.get(user)?.email ?? '',
          role,
          since: since.toISOString(),
          lastSignInAt: people.get(user)?.lastSignInAt?.toISOString() ?? null,
          you: user === signedIn.user.id,
        })),
        invitations: found.invitations
          .filter(each => isOpen(each, Date.now()))
          .map(each => shownInvitation(each, nameOf(people.get(each.by)))),
      };
    },
  }),
  route({
    method: 'post',
    path: '/accounts/:account/team/invitations',
    id: 'invite',
    summary: 'Invite a person by a link, which is shown once and works once, for 7 days',
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
  }),
  route({
    method: 'delete',
    path: '/accounts/:account/team/invitations/:invitation',
    id: 'revokeInvitation',
    summary: 'Make the link of an invitation worthless',
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
  }),
  route({
    method: 'patch',
    path: '/accounts/:account/team/members/:user',
    id: 'changeRole',
    summary: 'Give a member another role; only owners make and unmake owners',
    access: { permission: 'team.write' },
    body: roleChange,
    answer: 'none',
    handle: async call => {
      const user = call.params['user']!;
      const { role } = call.body;
      const before = await teams.setRole(call.account.id, call.signedIn.user.id, user, role);
      const person = (await teams.people([user])).get(user);
      if (before !== role)
        await audit.record(call, {
          action: 'member.role_changed',
          target: person?.email ?? user,
          details: { before, role },
        });
    },
  }),
  route({
    method: 'delete',
    path: '/accounts/:account/team/members/:user',
    id: 'removeMember',
    summary: 'Remove a member, or leave the account oneself',
    // Everybody may leave; who may remove others is decided with the team at hand.
    access: { permission: 'team.read' },
    answer: 'none',
    handle: async call => {
      const user = call.params['user']!;
      const own = user === call.signedIn.user.id;
      const role = await teams.remove(call.account.id, call.signedIn.user.id, user);
      const person = (await teams.people([user])).get(user);
      await audit.record(call, {
        action: own ? 'member.left' : 'member.removed',
        target: person?.email ?? user,
        details: { role },
      });
    },
  }),
];
