// Asks before what cannot be taken back. Stays open with the server's sentence when it fails.
import { Stack, Text, TextInput } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import { DialogButtons } from './action-form.tsx';
import { Dialog } from './dialog.tsx';
import { Failure } from './failure.tsx';

interface Props {
  opened: boolean;
  onClose(): void;
  title: string;
  /** What happens then. */
  children: ReactNode;
  /** The label of the button: `Revoke the key`. */
  confirm: string;
  onConfirm(): void;
  /** It destroys something: the button is red. */
  danger?: boolean;
  /** Must be typed first. */
  typed?: string;
  busy?: boolean;
  error?: Error | null;
}

export function ConfirmDialog(props: Props) {
  return (
    <Dialog opened={props.opened} onClose={props.onClose} title={props.title}>
      <Question {...props} />
    </Dialog>
  );
}

function Question({
  onClose,
  children,
  confirm,
  onConfirm,
  danger = false,
  typed,
  busy = false,
  error,
}: Props) {
  const [text, setText] = useState('');
  const ready = typed === undefined || text.trim() === typed;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (ready && !busy) onConfirm();
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <Text component="div" size="sm">
          {children}
        </Text>
        {typed !== undefined && (
          <TextInput
            label={
              <>
                Type <b>{typed}</b> to confirm
              </>
            }
            value={text}
            onChange={event => setText(event.currentTarget.value)}
            autoComplete="off"
            data-autofocus
          />
        )}
        {error && <Failure error={error} />}
        <DialogButtons onCancel={onClose} danger={danger} disabled={!ready} loading={busy}>
          {confirm}
        </DialogButtons>
      </Stack>
    </form>
  );
}
