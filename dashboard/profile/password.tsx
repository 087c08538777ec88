// Sets or changes the password of the signed-in user.
import { Button, Group } from '@mantine/core';
import { useState } from 'react';
import { ActionForm } from '../parts/action-form.tsx';
import { Failure } from '../parts/failure.tsx';
import { Panel } from '../parts/panel.tsx';
import { fieldError, useAction } from '../parts/use-action.ts';
import { post } from '../session/api.ts';
import { useSession } from '../session/session.tsx';
import { PasswordField } from './password-field.tsx';

export function PasswordPanel() {
  const { user } = useSession().me;
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const change = useAction({
    run: () => post('/me/password', { next, ...(user.hasPassword && { current }) }),
    done: 'Password updated. All other sessions were signed out.',
    refresh: [['me'], ['sessions']],
    after: () => {
      setCurrent('');
      setNext('');
    },
    errorInPlace: true,
  });
  const currentError = fieldError(change.error, 'current');
  const nextError = fieldError(change.error, 'next');
  return (
    <Panel
      title="Password"
      description={
        user.hasPassword
          ? 'Changing your password signs out all other sessions.'
          : 'You have not set a password. Set one to sign in with your email address.'
      }
    >
      <ActionForm action={change} noValidate>
        {/* Password managers need the user name of the password. */}
        <input
          type="text"
          name="username"
          autoComplete="username"
          value={user.email}
          readOnly
          hidden
        />
        {user.hasPassword && (
          <PasswordField
            label="Current password"
            value={current}
            error={currentError}
            autoComplete="current-password"
            showLabel="Show current password"
            onChange={({ currentTarget }) => setCurrent(currentTarget.value)}
          />
        )}
        <PasswordField
          label="New password"
          description="At least 12 characters. A long passphrase is stronger than a short complex password."
          value={next}
          error={nextError}
          autoComplete="new-password"
          showLabel="Show new password"
          onChange={({ currentTarget }) => setNext(currentTarget.value)}
        />
        {change.error && !currentError && !nextError && <Failure error={change.error} />}
        <Group>
          <Button
            type="submit"
            loading={change.isPending}
            disabled={next === '' || (user.hasPassword && current === '')}
          >
            {user.hasPassword ? 'Change password' : 'Set password'}
          </Button>
        </Group>
      </ActionForm>
    </Panel>
  );
}
