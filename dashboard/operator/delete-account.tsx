// Lets an operator delete an account once its name is typed.
import { Button } from '@mantine/core';
import { useState } from 'react';
import { useLocation } from 'wouter';
import type { OperatorAccount } from '../../api/console/contract/accounts.ts';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { useAction } from '../parts/use-action.ts';
import { remove } from '../session/api.ts';

export function DeleteAccount({ account: { id, name } }: { account: OperatorAccount }) {
  const [opened, setOpened] = useState(false);
  const [, navigate] = useLocation();
  const action = useAction({
    run: () => remove(`/operator/accounts/${id}`),
    done: `Account ${name} deleted.`,
    refresh: [['operator', 'accounts'], ['me']],
    after: () => navigate('/operator/accounts'),
    errorInPlace: true,
  });
  return (
    <>
      <Button variant="default" onClick={() => setOpened(true)}>
        Delete account
      </Button>
      <ConfirmDialog
        opened={opened}
        danger
        title={`Delete ${name}?`}
        confirm="Delete account"
        typed={name}
        action={action}
        onConfirm={() => action.mutate()}
        onClose={() => setOpened(false)}
      >
        Its API keys stop working, and renders in progress will fail. Asynchronous renders, PDFs,
        render log and usage are deleted. Members keep their login, and the audit log is kept. This
        cannot be undone.
      </ConfirmDialog>
    </>
  );
}
