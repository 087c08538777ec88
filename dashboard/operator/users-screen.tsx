// All people of the installation: who is an operator, and who may sign in.
import { Badge, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { Search, Users } from 'lucide-react';
import { useState } from 'react';
import type { OperatorUser } from '../../api/console/contract/accounts.ts';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { Empty } from '../parts/empty.tsx';
import { Failure } from '../parts/failure.tsx';
import { Loading } from '../parts/loading.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { useAction } from '../parts/use-action.ts';
import { usePages } from '../parts/use-pages.ts';
import { useSearchText } from '../parts/use-search-text.ts';
import { When } from '../parts/when.tsx';
import { patch } from '../session/api.ts';
import { useSession } from '../session/session.tsx';
import { roleLabel } from '../team/roles.ts';

type Change = { operator: boolean } | { disabled: boolean } | { company: false };
interface Asked {
  person: OperatorUser;
  change: Change;
}

function messageOf({ person, change }: Asked): { title: string; confirm: string; text: string } {
  const { name, email } = person;
  if ('operator' in change)
    return change.operator
      ? {
          title: `Make ${name} an operator?`,
          confirm: 'Make an operator',
          text: `${email} will see every account and change plans, people and states.`,
        }
      : {
          title: `Take the operator’s rights from ${name}?`,
          confirm: 'Take them away',
          text: `${email} keeps the accounts of which they are a member, and sees no others any more.`,
        };
  if ('company' in change)
    return {
      title: `Forget the company identity of ${name}?`,
      confirm: 'Forget it',
      text: `All sessions of ${email} end. Whoever next signs in through the company with this address is taken for ${name}.`,
    };
  return change.disabled
    ? {
        title: `Disable ${name}?`,
        confirm: 'Disable',
        text: `All sessions of ${email} end at once, and signing in is refused. API keys of their accounts go on working.`,
      }
    : { title: `Enable ${name} again?`, confirm: 'Enable', text: `${email} may sign in again.` };
}

function UserName({ name, email, operator, disabled }: OperatorUser) {
  return (
    <>
      <Group gap={6}>
        <span>{name}</span>
        {operator && (
          <Badge size="xs" variant="light">
            Operator
          </Badge>
        )}
        {disabled && (
          <Badge size="xs" variant="light" color="red">
            Disabled
          </Badge>
        )}
      </Group>
      <Text size="xs" c="dimmed" fw={400}>
        {email}
      </Text>
    </>
  );
}

function UserActions({ person, onAsk }: { person: OperatorUser; onAsk(asked: Asked): void }) {
  return (
    <Group gap="xs" justify="flex-end" wrap={person.company ? 'wrap' : 'nowrap'}>
      {person.company && (
        <Button
          size="xs"
          variant="default"
          aria-label={`Forget company identity of ${person.name}`}
          onClick={() => onAsk({ person, change: { company: false } })}
        >
          Forget company
        </Button>
      )}
      <Button
        size="xs"
        variant="default"
        aria-label={
          person.operator ? `Unmake operator: ${person.name}` : `Make operator: ${person.name}`
        }
        onClick={() => onAsk({ person, change: { operator: !person.operator } })}
      >
        {person.operator ? 'Unmake operator' : 'Make operator'}
      </Button>
      <Button
        size="xs"
        variant="default"
        aria-label={person.disabled ? `Enable ${person.name}` : `Disable ${person.name}`}
        onClick={() => onAsk({ person, change: { disabled: !person.disabled } })}
      >
        {person.disabled ? 'Enable' : 'Disable'}
      </Button>
    </Group>
  );
}

interface TableProps {
  rows: OperatorUser[];
  more: ReturnType<typeof usePages<OperatorUser>>['more'];
  onAsk(asked: Asked): void;
}

function UserTable({ rows, more, onAsk }: TableProps) {
  const { user: self } = useSession().me;
  return (
    <DataTable
      label="People"
      rows={rows}
      rowKey={({ id }) => id}
      more={more}
      columns={[
        {
          title: 'Person',
          cell: user => <UserName {...user} />,
        },
        {
          title: 'Accounts',
          cell: ({ accounts }) =>
            accounts.map(({ name, role }) => `${name} (${roleLabel(role)})`).join(', ') || 'None',
        },
        { title: 'Second factor', cell: ({ twoFactor }) => (twoFactor ? 'On' : 'Off') },
        {
          title: 'Last signed in',
          cell: ({ lastSignInAt }) => (lastSignInAt ? <When at={lastSignInAt} /> : 'Never'),
        },
        {
          title: 'Actions',
          quietTitle: true,
          align: 'end',
          cell: user => user.id !== self.id && <UserActions person={user} onAsk={onAsk} />,
        },
      ]}
    />
  );
}

export default function OperatorUsersScreen() {
  const search = useSearchText();
  const [asked, setAsked] = useState<Asked>();
  const { rows, error, retry, more } = usePages<OperatorUser>(
    ['operator', 'people'],
    '/operator/users',
    { search: search.asked },
  );
  const change = useAction({
    run: ({ person, change: body }: Asked) => patch(`/operator/users/${person.id}`, body),
    done: (_, { person }) => `${person.name} was changed.`,
    refresh: [['operator', 'people']],
    after: () => setAsked(undefined),
    errorInPlace: true,
  });
  const message = asked && messageOf(asked);
  return (
    <>
      <PageHeader title="People" description="Everybody who may sign in here." />
      <TextInput
        type="search"
        label="Search"
        placeholder="Beginning of a name or an address, or an id"
        leftSection={<Search size={16} aria-hidden />}
        value={search.text}
        maxLength={100}
        maw={420}
        mb="md"
        onChange={({ currentTarget }) => search.setText(currentTarget.value)}
      />
      <Stack>
        {error && <Failure error={error} retry={retry} />}
        {!rows && !error && <Loading rows={6} height={52} />}
        {rows?.length === 0 && <Empty icon={Users} title="Nobody matches" />}
        {rows && rows.length > 0 && <UserTable rows={rows} more={more} onAsk={setAsked} />}
      </Stack>
      {asked && message && (
        <ConfirmDialog
          opened
          danger={'disabled' in asked.change && asked.change.disabled}
          title={message.title}
          confirm={message.confirm}
          busy={change.isPending}
          error={change.error}
          onConfirm={() => change.mutate(asked)}
          onClose={() => {
            change.reset();
            setAsked(undefined);
          }}
        >
          {message.text}
        </ConfirmDialog>
      )}
    </>
  );
}
