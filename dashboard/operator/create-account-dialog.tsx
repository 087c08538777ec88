// Creates an account. The operator then invites its owner from the account's page.
import { NativeSelect, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { OperatorAccount } from '../../api/console/contract/accounts.ts';
import { ActionForm, DialogButtons } from '../parts/action-form.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Failure } from '../parts/failure.tsx';
import { formatCountOf } from '../parts/format.ts';
import { fieldError, useAction } from '../parts/use-action.ts';
import { post } from '../session/api.ts';
import { useSession } from '../session/session.tsx';

export function CreateAccountDialog({
  onClose,
  onCreated,
}: {
  onClose(): void;
  onCreated(account: OperatorAccount): void;
}) {
  const { plans } = useSession().me.installation;
  const [name, setName] = useState('');
  const [plan, setPlan] = useState(plans[0]?.name ?? '');
  const create = useAction({
    run: () => post<OperatorAccount>('/operator/accounts', { name, plan }),
    done: ({ name: created }) => `Account ${created} created.`,
    refresh: [['operator', 'accounts']],
    after: onCreated,
    errorInPlace: true,
  });
  const nameError = fieldError(create.error, 'name');
  return (
    <Dialog opened onClose={onClose} title="Create account">
      <ActionForm action={create}>
        <TextInput
          label="Name"
          value={name}
          error={nameError}
          maxLength={100}
          autoComplete="off"
          data-autofocus
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
        <NativeSelect
          label="Plan"
          data={plans.map(each => ({
            value: each.name,
            label: `${each.name} (${formatCountOf(each.parallel, 'concurrent render')})`,
          }))}
          value={plan}
          onChange={({ currentTarget }) => setPlan(currentTarget.value)}
        />
        {create.error && !nameError && <Failure error={create.error} />}
        <DialogButtons onCancel={onClose} loading={create.isPending} disabled={name.trim() === ''}>
          Create account
        </DialogButtons>
      </ActionForm>
    </Dialog>
  );
}
