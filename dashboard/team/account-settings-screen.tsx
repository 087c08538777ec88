// The settings of the account: its name and IDs.
import { Button, Group, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import { ActionForm } from '../parts/action-form.tsx';
import { Fact } from '../parts/fact.tsx';
import { Failure } from '../parts/failure.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { Panel } from '../parts/panel.tsx';
import { fieldError, useAction } from '../parts/use-action.ts';
import { patch } from '../session/api.ts';
import { useAccount, useMay, useSession } from '../session/session.tsx';

function Rename() {
  const account = useAccount();
  const mayRename = useMay('account.rename');
  const [name, setName] = useState(account.name);
  const rename = useAction({
    run: () => patch(`/accounts/${account.id}`, { name }),
    done: 'Account renamed.',
    refresh: [['me'], ['overview', account.id]],
    errorInPlace: true,
  });
  const nameError = fieldError(rename.error, 'name');
  return (
    <ActionForm action={rename}>
      <TextInput
        label="Name"
        value={name}
        error={nameError}
        maxLength={100}
        disabled={!mayRename}
        autoComplete="off"
        onChange={({ currentTarget }) => setName(currentTarget.value)}
      />
      {rename.error && !nameError && <Failure error={rename.error} />}
      {mayRename && (
        <Group>
          <Button
            type="submit"
            loading={rename.isPending}
            disabled={name.trim() === account.name || name.trim() === ''}
          >
            Rename
          </Button>
        </Group>
      )}
    </ActionForm>
  );
}

export default function SettingsScreen() {
  const account = useAccount();
  const { me } = useSession();
  return (
    <>
      <PageHeader title="Account settings" />
      <Stack maw={720}>
        <Panel title="Name" description="Renaming does not affect API keys or integrations.">
          <Rename key={account.id} />
        </Panel>
        <Panel
          title="Support information"
          description="Include the account ID when you contact support. It isn’t secret."
        >
          <Stack gap="sm">
            <Fact name="Account ID" value={account.id} copyLabel="Copy account ID" />
            <Fact name="Base URL" value={me.installation.publicUrl} copyLabel="Copy base URL" />
            <Fact name="Version" value={me.installation.version} copyLabel="Copy version" />
          </Stack>
        </Panel>
      </Stack>
    </>
  );
}
