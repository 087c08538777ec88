// One's own password: what it must be is said before it is typed.
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
    done: 'The password was changed. All your other sessions have ended.',
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
          ? 'Changing it ends all your other sessions.'
          : 'You have none. With one you can sign in with your address, without another way in.'
      }
    >
      <ActionForm action={change} noValidate>
        {/* Password managers look for the name that the password belongs to. */}
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
            shows="the current password"
            onChange={({ currentTarget }) => setCurrent(currentTarget.value)}
          />
        )}
        <PasswordField
          label="New password"
          description="At least 12 characters. A sentence that only you would think of is better than signs and figures."
          value={next}
          error={nextError}
          autoComplete="new-password"
          shows="the new password"
          onChange={({ currentTarget }) => setNext(currentTarget.value)}
        />
        {change.error && !currentError && !nextError && <Failure error={change.error} />}
        <Group>
          <Button
            type="submit"
            loading={change.isPending}
            disabled={next === '' || (user.hasPassword && current === '')}
          >
            {user.hasPassword ? 'Change the password' : 'Set a password'}
          </Button>
        </Group>
      </ActionForm>
    </Panel>
  );
}
