// The audit log as a table, with a filter over what has been read so far.
import { Badge, Group, Text, TextInput } from '@mantine/core';
import { ScrollText, Search } from 'lucide-react';
import { useState } from 'react';
import type { AuditPage, OperatorAuditPage } from '../../api/console/contract/users.ts';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { Empty } from '../parts/empty.tsx';
import { Failure } from '../parts/failure.tsx';
import { formatTime } from '../parts/format.ts';
import { Loading } from '../parts/loading.tsx';
import { usePages } from '../parts/use-pages.ts';
import { When } from '../parts/when.tsx';
import { actionLabel, detailLabel } from './labels.ts';

type Entry = AuditPage['items'][number] &
  Partial<Pick<OperatorAuditPage['items'][number], 'account'>>;

const textOf = ({ actor, action, target, details, ip, account }: Entry) =>
  [actor, action, actionLabel(action), target, detailLabel(details), ip, account?.name, account?.id]
    .join(' ')
    .toLowerCase();

const COLUMNS: Column<Entry>[] = [
  {
    title: 'What',
    cell: ({ action, target, details }) => (
      <>
        <span>
          {actionLabel(action)}
          {target && (
            <>
              {' '}
              <b>{target}</b>
            </>
          )}
        </span>
        <Text size="xs" c="dimmed" fw={400}>
          {detailLabel(details)}
        </Text>
      </>
    ),
  },
  { title: 'Who', cell: ({ actor }) => actor },
  { title: 'From', cell: ({ ip }) => ip ?? '–' },
  {
    title: 'When',
    cell: ({ at }) => (
      <>
        <When at={at} />
        <Text size="xs" c="dimmed">
          {formatTime(at)}
        </Text>
      </>
    ),
  },
];

const ACCOUNT: Column<Entry> = {
  title: 'Account',
  cell: ({ account }) =>
    account ? (account.name ?? account.id) : <Badge variant="default">Installation</Badge>,
};

interface Props {
  queryKey: string[];
  path: string;
  /** Of all accounts: then each row says which. */
  everywhere?: boolean;
}

export function AuditTable({ queryKey, path, everywhere = false }: Props) {
  const [search, setSearch] = useState('');
  const { rows, error, retry, more } = usePages<Entry>(queryKey, path);
  if (error && !rows) return <Failure error={error} retry={retry} />;
  if (!rows) return <Loading rows={8} />;
  if (rows.length === 0)
    return (
      <Empty icon={ScrollText} title="Nothing has happened yet">
        Keys that are made, people who are invited, plans that change: who did it and when stands
        here.
      </Empty>
    );
  const found = rows.filter(row => textOf(row).includes(search.trim().toLowerCase()));
  return (
    <>
      <TextInput
        type="search"
        label="Filter what is shown"
        description="By a person, an action, a name or an address."
        leftSection={<Search size={16} aria-hidden />}
        value={search}
        onChange={({ currentTarget }) => setSearch(currentTarget.value)}
        maw={420}
        mb="md"
      />
      {found.length === 0 && (
        <Group mb="md" role="status">
          <Text size="sm" c="dimmed">
            None of the {rows.length} entries that are shown has “{search}”.
            {more.has ? ' Load more to look further back.' : ''}
          </Text>
        </Group>
      )}
      <DataTable
        label="Audit log"
        rows={found}
        rowKey={({ id }) => id}
        columns={everywhere ? [...COLUMNS.slice(0, 2), ACCOUNT, ...COLUMNS.slice(2)] : COLUMNS}
        more={more}
      />
      {error && <Failure error={error} retry={more.load} />}
    </>
  );
}
