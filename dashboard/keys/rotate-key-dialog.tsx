// Replaces a key with a new one. The old key can keep working for a grace period.
import { Radio, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { CreatedKeyView, Key } from '../../api/console/contract/accounts.ts';
import { ActionForm, DialogButtons } from '../parts/action-form.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Failure } from '../parts/failure.tsx';
import { useAction } from '../parts/use-action.ts';
import { post } from '../session/api.ts';
import { useAccount } from '../session/session.tsx';
import { KeyShownOnce } from './key-shown-once.tsx';

const OVERLAPS = [
  {
    value: 'none',
    label: 'Immediately',
    description: 'Requests with the old key will be rejected with 401.',
  },
  { value: 'hour', label: 'In 1 hour' },
  { value: 'day', label: 'In 1 day' },
  { value: 'week', label: 'In 1 week' },
];

/** The dialog is open while `forKey` is set. */
export function RotateKeyDialog({ forKey, onClose }: { forKey: Key | undefined; onClose(): void }) {
  const [created, setCreated] = useState<CreatedKeyView>();
  const close = () => {
    onClose();
    setCreated(undefined);
  };
  return (
    <Dialog
      opened={forKey !== undefined}
      onClose={close}
      title={created ? 'Save your new API key' : `Rotate key “${forKey?.name ?? ''}”`}
      size="lg"
      keep={created !== undefined}
    >
      {created ? (
        <KeyShownOnce created={created} onDone={close} />
      ) : (
        forKey && <RotateForm forKey={forKey} onCancel={close} onCreated={setCreated} />
      )}
    </Dialog>
  );
}

interface FormProps {
  forKey: Key;
  onCancel(): void;
  onCreated(created: CreatedKeyView): void;
}

function RotateForm({ forKey, onCancel, onCreated }: FormProps) {
  const { id } = useAccount();
  const [overlap, setOverlap] = useState('day');
  const rotate = useAction<void, CreatedKeyView>({
    run: () => post<CreatedKeyView>(`/accounts/${id}/keys/${forKey.id}/rotate`, { overlap }),
    refresh: [['keys', id]],
    after: onCreated,
    errorInPlace: true,
  });
  return (
    <ActionForm action={rotate}>
      <Text size="sm">
        Creates a new key with the same name, scopes and allowed IP addresses. Update your
        integrations to use the new key.
      </Text>
      <Radio.Group
        label={`Expire the old key (…${forKey.last4})`}
        value={overlap}
        onChange={setOverlap}
      >
        <Stack gap="xs" mt="xs">
          {OVERLAPS.map(({ value, label, description }) => (
            <Radio key={value} value={value} label={label} {...(description && { description })} />
          ))}
        </Stack>
      </Radio.Group>
      {rotate.error && <Failure error={rotate.error} title="Could not rotate the key" />}
      <DialogButtons onCancel={onCancel} loading={rotate.isPending}>
        Rotate key
      </DialogButtons>
    </ActionForm>
  );
}
