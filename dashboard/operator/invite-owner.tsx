// Invites a person into an account of which the operator is no member, such as its first owner.
import { Button, Modal } from '@mantine/core';
import { UserPlus } from 'lucide-react';
import { useState } from 'react';
import { InviteForm } from '../team/invite-dialog.tsx';

export function InviteOwner({ accountId }: { accountId: string }) {
  const [opened, setOpened] = useState(false);
  return (
    <>
      <Button variant="default" leftSection={<UserPlus size={16} aria-hidden />} onClick={() => setOpened(true)}>
        Invite somebody
      </Button>
      <Modal opened={opened} onClose={() => setOpened(false)} title="Invite somebody" centered closeButtonProps={{ 'aria-label': 'Close' }}>
        <InviteForm
          path={`/operator/accounts/${accountId}/invitations`}
          accountId={accountId}
          own="owner"
          first="owner"
          onClose={() => setOpened(false)}
        />
      </Modal>
    </>
  );
}
