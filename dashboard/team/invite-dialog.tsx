// Invites somebody: an address and a role go in, a link that is shown once comes out.
import { Alert, Button, Code, Group, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Invited } from '../../api/console/contract/users.ts';
import { ActionForm, DialogButtons } from '../parts/action-form.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Failure } from '../parts/failure.tsx';
import { formatTime } from '../parts/format.ts';
import { fieldError, useAction } from '../parts/use-action.ts';
import { useArrivalFocus } from '../parts/use-arrival-focus.ts';
import { post } from '../session/api.ts';
import { RoleChoice } from './role-choice.tsx';
import { roleLabel, type TeamRole } from './roles.ts';

interface Props {
  /** Where the invitation is made. */
  path: string;
  accountId: string;
  /** The role of who invites. */
  own: string;
  /** The role that is chosen at first. */
  first?: TeamRole;
  /** The link is shown now. */
  onInvited(): void;
  onClose(): void;
}

function Link({ invited, onClose }: { invited: Invited; onClose(): void }) {
  const { invitation, link } = invited;
  const arrived = useArrivalFocus<HTMLDivElement>();
  return (
    <Stack ref={arrived} tabIndex={-1} style={{ outline: 'none' }}>
      <Text size="sm">
        Send this link to {invitation.email}. Whoever opens it joins as {roleLabel(invitation.role)}
        .
      </Text>
      <Code block aria-label="Invitation link">
        {link}
      </Code>
      <Alert color="yellow" variant="light">
        The link is shown only this once. It works once, until {formatTime(invitation.expiresAt)} (7
        days). If it gets lost, revoke the invitation and make another.
      </Alert>
      <Group justify="flex-end" gap="xs">
        <CopyButton text={link} label="Copy the link" size="sm" />
        <Button onClick={onClose}>Done</Button>
      </Group>
    </Stack>
  );
}

function InviteForm({ path, accountId, own, first = 'developer', onInvited, onClose }: Props) {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<TeamRole>(first);
  const invite = useAction({
    run: () => post<Invited>(path, { email, role }),
    refresh: [['team', accountId]],
    after: onInvited,
    errorInPlace: true,
  });
  if (invite.data) return <Link invited={invite.data} onClose={onClose} />;
  const emailError = fieldError(invite.error, 'email');
  return (
    <ActionForm action={invite} noValidate>
      <TextInput
        type="email"
        label="Email address"
        description="No mail is sent: you get a link to pass on."
        value={email}
        error={emailError}
        autoComplete="off"
        data-autofocus
        onChange={({ currentTarget }) => setEmail(currentTarget.value)}
      />
      <RoleChoice own={own} value={role} onChange={setRole} />
      {invite.error && !emailError && <Failure error={invite.error} />}
      <DialogButtons onCancel={onClose} loading={invite.isPending}>
        Make the link
      </DialogButtons>
    </ActionForm>
  );
}

/**
 * Invites into the account of `accountId` by `path`, which is the team's own unless it is given.
 */
export function InviteDialog({
  opened,
  path,
  onClose,
  ...props
}: Omit<Props, 'path' | 'onInvited'> & { opened: boolean; path?: string }) {
  const [invited, setInvited] = useState(false);
  const close = () => {
    onClose();
    setInvited(false);
  };
  return (
    <Dialog
      opened={opened}
      onClose={close}
      title={invited ? 'Send the link' : 'Invite somebody'}
      keep={invited}
    >
      <InviteForm
        {...props}
        path={path ?? `/accounts/${props.accountId}/team/invitations`}
        onInvited={() => setInvited(true)}
        onClose={close}
      />
    </Dialog>
  );
}
