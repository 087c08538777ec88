// The name and email address of the signed-in user.
import { Button, Group, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { ActionForm } from '../parts/action-form.tsx';
import { Failure } from '../parts/failure.tsx';
import { Panel } from '../parts/panel.tsx';
import { fieldError, useAction } from '../parts/use-action.ts';
import { patch } from '../session/api.ts';
import { useSession } from '../session/session.tsx';

export function NamePanel() {
  const { user } = useSession().me;
  const [name, setName] = useState(user.name);
  const rename = useAction({
    run: () => patch('/me', { name }),
    done: 'Name updated.',
    refresh: [['me'], ['team']],
    errorInPlace: true,
  });
  const nameError = fieldError(rename.error, 'name');
  return (
    <Panel
      title="Personal information"
      description={
        <>
          Signed in as <b>{user.email}</b>
          {user.company && ' (linked to SSO)'}. Your name is visible to your team.
        </>
      }
    >
      <ActionForm action={rename}>
        <TextInput
          label="Name"
          value={name}
          error={nameError}
          maxLength={100}
          autoComplete="name"
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
        {rename.error && !nameError && <Failure error={rename.error} />}
        <Group justify="space-between">
          <Button
            type="submit"
            loading={rename.isPending}
            disabled={name.trim() === '' || name.trim() === user.name}
          >
            Save
          </Button>
          {user.operator && (
            <Text size="sm" c="dimmed">
              You are an administrator of this installation.
            </Text>
          )}
        </Group>
      </ActionForm>
    </Panel>
  );
}
