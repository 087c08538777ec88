// Invites a person into an account of which the operator is no member, such as its first owner.
import { Button } from '@mantine/core';
import { UserPlus } from 'lucide-react';
import { useState } from 'react';
import { InviteDialog } from '../team/invite-dialog.tsx';

export function InviteOwner({ accountId }: { accountId: string }) {
  const [opened, setOpened] = useState(false);
  return (
    <>
      <Button variant="default" leftSection={<UserPlus size={16} aria-hidden />} onClick={() => setOpened(true)}>
        Invite somebody
      </Button>
      <InviteDialog
        opened={opened}
        path={`/operator/accounts/${accountId}/invitations`}
        accountId={accountId}
        own="owner"
        first="owner"
        onClose={() => setOpened(false)}
      />
    </>
  );
}
