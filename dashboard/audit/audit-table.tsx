// The audit log as a table, with a filter over the loaded entries.
import { Badge, Group, Text, TextInput } from '@mantine/core';
import { ScrollText, Search } from 'lucide-react';
import { useState } from 'react';
import type { AuditPage, OperatorAuditPage } from '../../api/console/contract/users.ts';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { Empty } from '../parts/empty.tsx';
import { Failure } from '../parts/failure.tsx';
import { formatTime } from '../parts/format.ts';
import { QueryState } from '../parts/query-state.tsx';
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
    title: 'Action',
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
  { title: 'Actor', cell: ({ actor }) => actor },
  { title: 'IP address', cell: ({ ip }) => ip ?? '–' },
  {
    title: 'Time',
    cell: ({ at }) => (
      <>
        <When at={at} />
        <Text size="xs" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
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
  /** Adds a column with the account of each entry. */
  allAccounts?: boolean;
}

export function AuditTable({ queryKey, path, allAccounts = false }: Props) {
  const [search, setSearch] = useState('');
  const { query, rows, more } = usePages<Entry>(queryKey, path);
  if (!rows) return <QueryState query={query} rows={8} />;
  if (rows.length === 0)
    return (
      <Empty icon={ScrollText} title="No activity yet">
        Key, invitation and plan changes will appear here.
      </Empty>
    );
  const found = rows.filter(row => textOf(row).includes(search.trim().toLowerCase()));
  return (
    <>
      <TextInput
        type="search"
        label="Filter loaded entries"
        placeholder="Actor, action, name or IP address"
        leftSection={<Search size={16} aria-hidden />}
        value={search}
        onChange={({ currentTarget }) => setSearch(currentTarget.value)}
        maw={420}
        mb="md"
      />
      {found.length === 0 && (
        <Group mb="md" role="status">
          <Text size="sm" c="dimmed">
            {more.has
              ? `No matches for “${search}” in the ${rows.length} loaded entries. Load more to search older entries.`
              : `No matches for “${search}”.`}
          </Text>
        </Group>
      )}
      <DataTable
        label="Audit log"
        rows={found}
        rowKey={({ id }) => id}
        columns={allAccounts ? [...COLUMNS.slice(0, 2), ACCOUNT, ...COLUMNS.slice(2)] : COLUMNS}
        more={more}
      />
      {query.error && <Failure error={query.error} retry={more.load} />}
    </>
  );
}
