// Confirms an action before it runs. Stays open with the server's message if the action fails.
import { Stack, Text, TextInput } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import { DialogButtons } from './action-form.tsx';
import { Dialog } from './dialog.tsx';
import { Failure } from './failure.tsx';

interface Props {
  opened: boolean;
  onClose(): void;
  title: string;
  /** The consequences of the action. */
  children: ReactNode;
  /** The label of the button: `Revoke key`. */
  confirm: string;
  /** The label of the button that closes the dialog. Default: `Cancel`. */
  dismiss?: string;
  onConfirm(): void;
  /** The action is destructive: the button is red. */
  danger?: boolean;
  /** A text that the user must type to enable the button. */
  typed?: string;
  busy?: boolean;
  error?: Error | null;
}

export function ConfirmDialog(props: Props) {
  return (
    <Dialog opened={props.opened} onClose={props.onClose} title={props.title}>
      <ConfirmForm {...props} />
    </Dialog>
  );
}

function ConfirmForm({
  onClose,
  children,
  confirm,
  dismiss,
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
        <DialogButtons
          onCancel={onClose}
          {...(dismiss !== undefined && { cancel: dismiss })}
          danger={danger}
          disabled={!ready}
          loading={busy}
        >
          {confirm}
        </DialogButtons>
      </Stack>
    </form>
  );
}
