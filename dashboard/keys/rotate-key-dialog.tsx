// Makes a key in place of another, which works on for a while, so that programs can be changed
// over.
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
    label: 'Stops at once',
    description: 'Programs that still use it are refused from their next request on.',
  },
  { value: 'hour', label: 'Works for one more hour' },
  { value: 'day', label: 'Works for one more day' },
  { value: 'week', label: 'Works for one more week' },
];

/** `forKey`: the key to be rotated; the dialog is open while there is one. */
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
      title={created ? 'Save your new key' : `Rotate ${forKey?.name ?? 'the key'}`}
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
        You get a new key with the same name and the same allowed addresses. Put it into your
        programs in place of the old one.
      </Text>
      <Radio.Group label={`The old key (…${forKey.last4})`} value={overlap} onChange={setOverlap}>
        <Stack gap="xs" mt="xs">
          {OVERLAPS.map(({ value, label, description }) => (
            <Radio key={value} value={value} label={label} {...(description && { description })} />
          ))}
        </Stack>
      </Radio.Group>
      {rotate.error && <Failure error={rotate.error} title="The key was not rotated" />}
      <DialogButtons onCancel={onCancel} loading={rotate.isPending}>
        Rotate the key
      </DialogButtons>
    </ActionForm>
  );
}
