// The API keys of the account: list, create, rotate and revoke.
import { Badge, Button, Code, Group, Text } from '@mantine/core';
import { KeyRound, Plus } from 'lucide-react';
import { useState } from 'react';
import type { Key } from '../../api/console/contract/accounts.ts';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { Empty } from '../parts/empty.tsx';
import { capitalize, formatKey } from '../parts/format.ts';
import { PageHeader } from '../parts/page-header.tsx';
import { QueryState } from '../parts/query-state.tsx';
import { When } from '../parts/when.tsx';
import { useAccount, useMay } from '../session/session.tsx';
import { useGet } from '../session/use-get.ts';
import { CreateKeyDialog } from './create-key-dialog.tsx';
import { RevokeKeyDialog } from './revoke-key-dialog.tsx';
import { RotateKeyDialog } from './rotate-key-dialog.tsx';

const FACTS: Column<Key>[] = [
  {
    title: 'Name',
    cell: ({ name, test, expired, replacedBy }) => (
      <Group gap="xs" component="span">
        <span>{name}</span>
        {test && (
          <Badge color="blue" variant="light" size="sm" radius="sm">
            Test
          </Badge>
        )}
        {expired ? (
          <Badge color="gray" variant="light" size="sm" radius="sm">
            Expired
          </Badge>
        ) : (
          replacedBy && (
            <Badge color="yellow" variant="light" size="sm" radius="sm">
              Replaced
            </Badge>
          )
        )}
      </Group>
    ),
  },
  {
    title: 'Key',
    cell: key => (
      <>
        <Code style={{ whiteSpace: 'nowrap' }}>{formatKey(key)}</Code>
        <Text size="xs" c="dimmed">
          {key.scopes.map(capitalize).join(', ')}
        </Text>
      </>
    ),
  },
  { title: 'Created', cell: ({ createdAt }) => <When at={createdAt} /> },
  {
    title: 'Last used',
    // Only renders are recorded.
    cell: ({ lastUsedAt, scopes }) =>
      lastUsedAt ? <When at={lastUsedAt} /> : scopes.includes('render') ? 'Never' : '–',
  },
  { title: 'Expires', cell: ({ expiresAt }) => (expiresAt ? <When at={expiresAt} /> : 'Never') },
  {
    title: 'Allowed IPs',
    cell: ({ allowedIps }) =>
      allowedIps.length === 0 ? (
        'Any'
      ) : (
        <Text span size="sm" title={allowedIps.join('\n')}>
          {allowedIps[0]}
          {allowedIps.length > 1 && ` and ${allowedIps.length - 1} more`}
        </Text>
      ),
  },
];

export default function Keys() {
  const account = useAccount();
  const mayWrite = useMay('keys.write');
  const keys = useGet<{ items: Key[] }>(['keys', account.id], `/accounts/${account.id}/keys`);
  const [creating, setCreating] = useState(false);
  const [rotating, setRotating] = useState<Key>();
  const [revoking, setRevoking] = useState<Key>();
  const create = (
    <Button leftSection={<Plus size={16} aria-hidden />} onClick={() => setCreating(true)}>
      Create API key
    </Button>
  );
  const actionsOf = (key: Key) => (
    <Group gap={6} wrap="nowrap" justify="flex-end">
      {!key.expired && !key.replacedBy && (
        <Button
          size="compact-sm"
          variant="default"
          onClick={() => setRotating(key)}
          aria-label={`Rotate ${key.name} …${key.last4}`}
        >
          Rotate
        </Button>
      )}
      <Button
        size="compact-sm"
        variant="default"
        onClick={() => setRevoking(key)}
        aria-label={`${key.expired ? 'Delete' : 'Revoke'} ${key.name} …${key.last4}`}
      >
        {key.expired ? 'Delete' : 'Revoke'}
      </Button>
    </Group>
  );
  return (
    <>
      <PageHeader
        title="API keys"
        description="API keys authenticate your requests. Each key belongs to this account."
        actions={mayWrite && create}
      />
      <QueryState query={keys} title="Could not load API keys" rows={4} height={48} />
      {keys.data?.items.length === 0 && (
        <Empty icon={KeyRound} title="No API keys yet">
          {mayWrite
            ? 'Create a key to send your first render.'
            : 'An owner, admin or developer of the account can create one.'}
        </Empty>
      )}
      {keys.data && keys.data.items.length > 0 && (
        <DataTable
          label="API keys"
          rows={keys.data.items}
          rowKey={({ id }) => id}
          columns={FACTS}
          actions={mayWrite ? actionsOf : undefined}
        />
      )}
      <CreateKeyDialog opened={creating} onClose={() => setCreating(false)} />
      <RotateKeyDialog forKey={rotating} onClose={() => setRotating(undefined)} />
      <RevokeKeyDialog forKey={revoking} onClose={() => setRevoking(undefined)} />
    </>
  );
}
