// All users of the installation: administrator access, SSO links, and disabling users.
import { Badge, Button, Group, Stack, TextInput } from '@mantine/core';
import { Search, Users } from 'lucide-react';
import { useState } from 'react';
import type { OperatorUser } from '../../api/console/contract/accounts.ts';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { Empty } from '../parts/empty.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { QueryState } from '../parts/query-state.tsx';
import { useAction } from '../parts/use-action.ts';
import { usePages } from '../parts/use-pages.ts';
import { useSearchText } from '../parts/use-search-text.ts';
import { UserCell } from '../parts/user-cell.tsx';
import { When } from '../parts/when.tsx';
import { patch } from '../session/api.ts';
import { useSession } from '../session/session.tsx';
import { roleLabel } from '../team/roles.ts';

type Change = { operator: boolean } | { disabled: boolean } | { company: false };
/** A change that waits for confirmation. */
interface PendingChange {
  user: OperatorUser;
  change: Change;
}

interface Message {
  title: string;
  confirm: string;
  text: string;
}

function messageOf({ user: { name, email }, change }: PendingChange): Message {
  if ('operator' in change)
    return change.operator
      ? {
          title: `Make ${name} an administrator?`,
          confirm: 'Make administrator',
          text: `${email} will be able to view every account and to change plans, states and users.`,
        }
      : {
          title: `Remove administrator access from ${name}?`,
          confirm: 'Remove access',
          text: `${email} keeps access only to accounts where they are a member.`,
        };
  if ('company' in change)
    return {
      title: `Unlink SSO for ${name}?`,
      confirm: 'Unlink SSO',
      text: `All sessions of ${email} will end. The next SSO sign-in with this email address will be linked to ${name}.`,
    };
  return change.disabled
    ? {
        title: `Disable ${name}?`,
        confirm: 'Disable',
        text: `All sessions of ${email} will end immediately, and they can no longer sign in. API keys of their accounts keep working.`,
      }
    : {
        title: `Enable ${name}?`,
        confirm: 'Enable',
        text: `${email} will be able to sign in again.`,
      };
}

function UserName({ name, email, operator, disabled }: OperatorUser) {
  return (
    <UserCell name={name} email={email}>
      {operator && (
        <Badge size="xs" variant="light">
          Administrator
        </Badge>
      )}
      {disabled && (
        <Badge size="xs" variant="light" color="red">
          Disabled
        </Badge>
      )}
    </UserCell>
  );
}

interface ActionsProps {
  user: OperatorUser;
  onChange(pending: PendingChange): void;
}

function UserActions({ user, onChange }: ActionsProps) {
  const { name, company, operator, disabled } = user;
  return (
    <Group gap="xs" justify="flex-end" wrap={company ? 'wrap' : 'nowrap'}>
      {company && (
        <Button
          size="xs"
          variant="default"
          aria-label={`Unlink SSO: ${name}`}
          onClick={() => onChange({ user, change: { company: false } })}
        >
          Unlink SSO
        </Button>
      )}
      <Button
        size="xs"
        variant="default"
        aria-label={operator ? `Remove administrator: ${name}` : `Make administrator: ${name}`}
        onClick={() => onChange({ user, change: { operator: !operator } })}
      >
        {operator ? 'Remove administrator' : 'Make administrator'}
      </Button>
      <Button
        size="xs"
        variant="default"
        aria-label={disabled ? `Enable ${name}` : `Disable ${name}`}
        onClick={() => onChange({ user, change: { disabled: !disabled } })}
      >
        {disabled ? 'Enable' : 'Disable'}
      </Button>
    </Group>
  );
}

interface TableProps {
  rows: OperatorUser[];
  more: ReturnType<typeof usePages<OperatorUser>>['more'];
  onChange(pending: PendingChange): void;
}

function UserTable({ rows, more, onChange }: TableProps) {
  const { user: self } = useSession().me;
  return (
    <DataTable
      label="Users"
      rows={rows}
      rowKey={({ id }) => id}
      more={more}
      columns={[
        {
          title: 'User',
          cell: user => <UserName {...user} />,
        },
        {
          title: 'Accounts',
          cell: ({ accounts }) =>
            accounts.map(({ name, role }) => `${name} (${roleLabel(role)})`).join(', ') || 'None',
        },
        { title: '2FA', cell: ({ twoFactor }) => (twoFactor ? 'On' : 'Off') },
        {
          title: 'Last sign-in',
          cell: ({ lastSignInAt }) => (lastSignInAt ? <When at={lastSignInAt} /> : 'Never'),
        },
      ]}
      actions={user => user.id !== self.id && <UserActions user={user} onChange={onChange} />}
    />
  );
}

export default function OperatorUsersScreen() {
  const search = useSearchText();
  const [pending, setPending] = useState<PendingChange>();
  const { query, rows, more } = usePages<OperatorUser>(['operator', 'people'], '/operator/users', {
    search: search.query,
  });
  const change = useAction({
    run: ({ user, change: body }: PendingChange) => patch(`/operator/users/${user.id}`, body),
    done: (_, { user }) => `${user.name} updated.`,
    refresh: [['operator', 'people']],
    after: () => setPending(undefined),
    errorInPlace: true,
  });
  const message = pending && messageOf(pending);
  return (
    <>
      <PageHeader title="Users" description="Everyone with a login." />
      <TextInput
        type="search"
        label="Search"
        placeholder="Start of name or email, or ID"
        leftSection={<Search size={16} aria-hidden />}
        value={search.text}
        maxLength={100}
        maw={420}
        mb="md"
        onChange={({ currentTarget }) => search.setText(currentTarget.value)}
      />
      <Stack>
        <QueryState query={query} rows={6} height={52} />
        {rows?.length === 0 && <Empty icon={Users} title="No matching users" />}
        {rows && rows.length > 0 && <UserTable rows={rows} more={more} onChange={setPending} />}
      </Stack>
      {pending && message && (
        <ConfirmDialog
          opened
          danger={'disabled' in pending.change && pending.change.disabled}
          title={message.title}
          confirm={message.confirm}
          action={change}
          onConfirm={() => change.mutate(pending)}
          onClose={() => setPending(undefined)}
        >
          {message.text}
        </ConfirmDialog>
      )}
    </>
  );
}
