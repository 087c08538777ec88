// The team of the account: members with their roles, and pending invitations.
import { Badge, Button, Group, Stack, Title } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { UserPlus } from 'lucide-react';
import { useState } from 'react';
import type { Team } from '../../api/console/contract/users.ts';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { QueryState } from '../parts/query-state.tsx';
import { useAction } from '../parts/use-action.ts';
import { UserCell } from '../parts/user-cell.tsx';
import { When } from '../parts/when.tsx';
import { remove } from '../session/api.ts';
import { useAccount, useMay } from '../session/session.tsx';
import { useGet } from '../session/use-get.ts';
import { InviteDialog } from './invite-dialog.tsx';
import { RoleDialog, type TeamMember } from './role-dialog.tsx';
import { roleLabel } from './roles.ts';

type Invitation = Team['invitations'][number];

function Members({
  members,
  onRole,
  onRemove,
}: {
  members: TeamMember[];
  onRole(member: TeamMember): void;
  onRemove(member: TeamMember): void;
}) {
  const account = useAccount();
  const mayWrite = useMay('team.write');
  /** Only owners can change owners. */
  const mayChange = (member: TeamMember) =>
    mayWrite && (member.role !== 'owner' || account.role === 'owner');
  return (
    <DataTable
      label="Members"
      rows={members}
      rowKey={({ user }) => user}
      columns={[
        {
          title: 'Member',
          cell: ({ name, email, you }) => (
            <UserCell name={name} email={email}>
              {you && (
                <Badge variant="light" size="xs">
                  You
                </Badge>
              )}
            </UserCell>
          ),
        },
        { title: 'Role', cell: ({ role }) => roleLabel(role) },
        { title: 'Member since', cell: ({ since }) => <When at={since} /> },
        {
          title: 'Last sign-in',
          cell: ({ lastSignInAt }) => (lastSignInAt ? <When at={lastSignInAt} /> : 'Never'),
        },
      ]}
      actions={member => (
        <Group gap="xs" justify="flex-end" wrap="nowrap">
          {mayChange(member) && (
            <Button
              size="xs"
              variant="default"
              onClick={() => onRole(member)}
              aria-label={`Change role of ${member.name}`}
            >
              Change role
            </Button>
          )}
          {(member.you || mayChange(member)) && (
            <Button
              size="xs"
              variant="default"
              onClick={() => onRemove(member)}
              aria-label={member.you ? 'Leave account' : `Remove ${member.name}`}
            >
              {member.you ? 'Leave' : 'Remove'}
            </Button>
          )}
        </Group>
      )}
    />
  );
}

function Invitations({
  invitations,
  onRevoke,
}: {
  invitations: Invitation[];
  onRevoke(invitation: Invitation): void;
}) {
  const mayWrite = useMay('team.write');
  return (
    <DataTable
      label="Pending invitations"
      rows={invitations}
      rowKey={({ id }) => id}
      columns={[
        { title: 'Email', cell: ({ email }) => email },
        { title: 'Role', cell: ({ role }) => roleLabel(role) },
        { title: 'Invited by', cell: ({ invitedBy }) => invitedBy },
        { title: 'Expires', cell: ({ expiresAt }) => <When at={expiresAt} /> },
      ]}
      actions={invitation =>
        mayWrite && (
          <Button
            size="xs"
            variant="default"
            onClick={() => onRevoke(invitation)}
            aria-label={`Revoke invitation for ${invitation.email}`}
          >
            Revoke
          </Button>
        )
      }
    />
  );
}

/** Removes a member. Leaves the account if the member is the signed-in user. */
function RemoveDialog({ member, onClose }: { member: TeamMember; onClose(): void }) {
  const account = useAccount();
  const queries = useQueryClient();
  const { user, name, you } = member;
  const removal = useAction({
    run: () => remove(`/accounts/${account.id}/team/members/${user}`),
    done: you ? `You left ${account.name}.` : `${name} removed.`,
    // A user who left can no longer read the team.
    after: () => {
      void queries.invalidateQueries({ queryKey: you ? ['me'] : ['team', account.id] });
      onClose();
    },
    errorInPlace: true,
  });
  return (
    <ConfirmDialog
      opened
      danger
      title={you ? `Leave ${account.name}?` : `Remove ${name}?`}
      confirm={you ? 'Leave' : 'Remove'}
      action={removal}
      onConfirm={() => removal.mutate()}
      onClose={onClose}
    >
      {you
        ? 'You will lose access to this account immediately. API keys keep working: revoke any that you have a copy of. You need a new invitation to rejoin.'
        : `${name} will lose access to this account immediately. API keys keep working: revoke any that ${name} has a copy of. They need a new invitation to rejoin.`}
    </ConfirmDialog>
  );
}

function RevokeDialog({ invitation, onClose }: { invitation: Invitation; onClose(): void }) {
  const { id: accountId } = useAccount();
  const { id, email } = invitation;
  const revoke = useAction({
    run: () => remove(`/accounts/${accountId}/team/invitations/${id}`),
    done: `Invitation for ${email} revoked.`,
    refresh: [['team', accountId]],
    after: onClose,
    errorInPlace: true,
  });
  return (
    <ConfirmDialog
      opened
      danger
      title="Revoke this invitation?"
      confirm="Revoke invitation"
      action={revoke}
      onConfirm={() => revoke.mutate()}
      onClose={onClose}
    >
      The invitation link for {email} will stop working.
    </ConfirmDialog>
  );
}

export default function TeamScreen() {
  const account = useAccount();
  const mayWrite = useMay('team.write');
  const [inviting, setInviting] = useState(false);
  const [roleOf, setRoleOf] = useState<TeamMember>();
  const [leaving, setLeaving] = useState<TeamMember>();
  const [revoking, setRevoking] = useState<Invitation>();
  const team = useGet<Team>(['team', account.id], `/accounts/${account.id}/team`);

  return (
    <>
      <PageHeader
        title="Team"
        description={`Members of ${account.name} and their roles.`}
        actions={
          mayWrite && (
            <Button
              leftSection={<UserPlus size={16} aria-hidden />}
              onClick={() => setInviting(true)}
            >
              Invite member
            </Button>
          )
        }
      />
      <QueryState query={team} rows={4} height={52} />
      {team.data && (
        <Stack gap="xl">
          <Members members={team.data.members} onRole={setRoleOf} onRemove={setLeaving} />
          {team.data.invitations.length > 0 && (
            <section aria-labelledby="team-invitations">
              <Title order={2} size="h4" id="team-invitations" mb="sm">
                Pending invitations
              </Title>
              <Invitations invitations={team.data.invitations} onRevoke={setRevoking} />
            </section>
          )}
        </Stack>
      )}
      <InviteDialog
        opened={inviting}
        accountId={account.id}
        own={account.role}
        onClose={() => setInviting(false)}
      />
      {roleOf && (
        <RoleDialog
          accountId={account.id}
          own={account.role}
          member={roleOf}
          onClose={() => setRoleOf(undefined)}
        />
      )}
      {leaving && <RemoveDialog member={leaving} onClose={() => setLeaving(undefined)} />}
      {revoking && <RevokeDialog invitation={revoking} onClose={() => setRevoking(undefined)} />}
    </>
  );
}
