// Changes the role of a member.
import { Stack } from '@mantine/core';
import { useState } from 'react';
import type { Team } from '../../api/console/contract/users.ts';
import { DialogButtons } from '../parts/action-form.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Failure } from '../parts/failure.tsx';
import { useAction } from '../parts/use-action.ts';
import { patch } from '../session/api.ts';
import { RoleChoice } from './role-choice.tsx';
import { roleLabel } from './roles.ts';

export type TeamMember = Team['members'][number];

interface Props {
  accountId: string;
  own: string;
  member: TeamMember;
  onClose(): void;
}

export function RoleDialog({ accountId, own, member, onClose }: Props) {
  const [role, setRole] = useState(member.role);
  const change = useAction({
    run: () => patch(`/accounts/${accountId}/team/members/${member.user}`, { role }),
    done: `Role of ${member.name} changed to ${roleLabel(role)}.`,
    // A change of one's own role changes the permissions of the session.
    refresh: [['team', accountId], ...(member.you ? [['me']] : [])],
    after: onClose,
    errorInPlace: true,
  });
  return (
    <Dialog opened onClose={onClose} title={`Change role of ${member.name}`}>
      <Stack>
        <RoleChoice own={own} value={role} onChange={setRole} />
        {change.error && <Failure error={change.error} />}
        <DialogButtons
          onCancel={onClose}
          loading={change.isPending}
          disabled={role === member.role}
          onClick={() => change.mutate()}
        >
          Change role
        </DialogButtons>
      </Stack>
    </Dialog>
  );
}
