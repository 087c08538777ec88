// Invites a member by email address and role, then shows the invitation link once.
import { Alert, Button, Code, Group, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Invited } from '../../api/console/contract/users.ts';
import { ActionForm, DialogButtons } from '../parts/action-form.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Failure } from '../parts/failure.tsx';
import { formatTime } from '../parts/format.ts';
import { fieldError, useAction } from '../parts/use-action.ts';
import { useFocusOnMount } from '../parts/use-focus-on-mount.ts';
import { post } from '../session/api.ts';
import { RoleChoice } from './role-choice.tsx';
import { roleLabel, type TeamRole } from './roles.ts';

interface Props {
  /** The API path that creates the invitation. */
  path: string;
  accountId: string;
  /** The role of the inviting user. */
  own: string;
  /** The role that is selected initially. */
  initialRole?: TeamRole;
  /** Called when the link is shown. */
  onInvited(): void;
  onClose(): void;
}

function Link({ invited, onClose }: { invited: Invited; onClose(): void }) {
  const { invitation, link } = invited;
  const arrived = useFocusOnMount<HTMLDivElement>();
  return (
    <Stack ref={arrived} tabIndex={-1} style={{ outline: 'none' }}>
      <Text size="sm">
        Send this link to {invitation.email} to join with the role {roleLabel(invitation.role)}.
      </Text>
      <Code block aria-label="Invitation link">
        {link}
      </Code>
      <Alert color="yellow" variant="light">
        Copy the link now; you won’t be able to see it again. It works once and expires on{' '}
        {formatTime(invitation.expiresAt)}. If it is lost, revoke the invitation and create another.
      </Alert>
      <Group justify="flex-end" gap="xs">
        <CopyButton text={link} label="Copy link" size="sm" />
        <Button onClick={onClose}>Done</Button>
      </Group>
    </Stack>
  );
}

function InviteForm({
  path,
  accountId,
  own,
  initialRole = 'developer',
  onInvited,
  onClose,
}: Props) {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState(initialRole);
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
        description="No email is sent. You’ll get a link to share."
        value={email}
        error={emailError}
        autoComplete="off"
        data-autofocus
        onChange={({ currentTarget }) => setEmail(currentTarget.value)}
      />
      <RoleChoice own={own} value={role} onChange={setRole} />
      {invite.error && !emailError && <Failure error={invite.error} />}
      <DialogButtons onCancel={onClose} loading={invite.isPending}>
        Create link
      </DialogButtons>
    </ActionForm>
  );
}

/** Invites to the account `accountId`. `path` defaults to the team's invitations. */
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
      title={invited ? 'Share the invitation link' : 'Invite a member'}
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
