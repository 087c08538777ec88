// A form that runs one action at a time, and the buttons at the end of a dialog's form.
import { Button, type ButtonProps, Group, Stack } from '@mantine/core';
import type { UseMutationResult } from '@tanstack/react-query';
import type { FormEvent, ReactNode } from 'react';

interface FormProps {
  action: Pick<UseMutationResult<unknown, Error, void>, 'isPending' | 'mutate'>;
  /** Leaves validation to the server. */
  noValidate?: boolean;
  children: ReactNode;
}

export function ActionForm({ action, noValidate, children }: FormProps) {
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!action.isPending) action.mutate();
  };
  return (
    <form onSubmit={submit} noValidate={noValidate}>
      <Stack>{children}</Stack>
    </form>
  );
}

interface ButtonsProps extends Pick<ButtonProps, 'loading' | 'disabled'> {
  onCancel(): void;
  /** The label of the button that closes the dialog. */
  cancel?: string;
  /** The action is destructive: the button is red. */
  danger?: boolean;
  /** Absent: the button submits the form. */
  onClick?(): void;
  /** The label of the main button. */
  children: ReactNode;
}

export function DialogButtons({
  onCancel,
  cancel = 'Cancel',
  danger = false,
  onClick,
  children,
  ...button
}: ButtonsProps) {
  return (
    <Group justify="flex-end" gap="xs">
      <Button variant="default" onClick={onCancel}>
        {cancel}
      </Button>
      <Button
        type={onClick ? 'button' : 'submit'}
        {...(danger && { color: 'red' })}
        {...(onClick && { onClick })}
        {...button}
      >
        {children}
      </Button>
    </Group>
  );
}
