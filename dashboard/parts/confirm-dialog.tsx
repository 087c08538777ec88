// Confirms an action before it runs. Stays open with the server's message if the action fails.
import { Text, TextInput } from '@mantine/core';
import type { UseMutationResult } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { ActionForm, DialogButtons } from './action-form.tsx';
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
  /** What `onConfirm` runs. Its error is cleared when the dialog closes. */
  action: Pick<UseMutationResult, 'isPending' | 'error' | 'reset'>;
  onConfirm(): void;
  /** The action is destructive: the button is red. */
  danger?: boolean;
  /** A text that the user must type to enable the button. */
  typed?: string;
}

export function ConfirmDialog(props: Props) {
  const { opened, title, action } = props;
  const close = () => {
    action.reset();
    props.onClose();
  };
  return (
    <Dialog opened={opened} onClose={close} title={title}>
      <ConfirmForm {...props} onClose={close} />
    </Dialog>
  );
}

function ConfirmForm({
  onClose,
  children,
  confirm,
  dismiss,
  action: { isPending, error },
  onConfirm,
  danger = false,
  typed,
}: Props) {
  const [text, setText] = useState('');
  const ready = typed === undefined || text.trim() === typed;
  return (
    <ActionForm action={{ isPending: isPending || !ready, mutate: onConfirm }}>
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
        loading={isPending}
      >
        {confirm}
      </DialogButtons>
    </ActionForm>
  );
}
