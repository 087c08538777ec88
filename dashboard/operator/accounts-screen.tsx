// All accounts of the installation, or the one selected by `?account=…`.
import { Button, Group, NativeSelect, Stack, TextInput } from '@mantine/core';
import { Building2, Plus, Search } from 'lucide-react';
import { useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import type { OperatorAccount } from '../../api/console/contract/accounts.ts';
import { DataTable } from '../parts/data-table.tsx';
import { Empty } from '../parts/empty.tsx';
import { formatCount } from '../parts/format.ts';
import { PageHeader } from '../parts/page-header.tsx';
import { QueryState } from '../parts/query-state.tsx';
import { usePages } from '../parts/use-pages.ts';
import { useSearchText } from '../parts/use-search-text.ts';
import { When } from '../parts/when.tsx';
import { AccountDetail } from './account-detail.tsx';
import { CreateAccountDialog } from './create-account-dialog.tsx';
import { STATES, StateBadge } from './states.tsx';

const pathOf = (id: string) => `/operator/accounts?account=${encodeURIComponent(id)}`;

function AllAccounts() {
  const search = useSearchText();
  const [state, setState] = useState('');
  const [creating, setCreating] = useState(false);
  const [, navigate] = useLocation();
  const { query, rows, more } = usePages<OperatorAccount>(
    ['operator', 'accounts'],
    '/operator/accounts',
    {
      search: search.query,
      state: state || undefined,
    },
  );
  return (
    <>
      <PageHeader
        title="Accounts"
        description="All accounts on this installation."
        actions={
          <Button leftSection={<Plus size={16} aria-hidden />} onClick={() => setCreating(true)}>
            Create account
          </Button>
        }
      />
      <Group align="end" mb="md">
        <TextInput
          type="search"
          label="Search"
          placeholder="Start of name, or ID"
          leftSection={<Search size={16} aria-hidden />}
          value={search.text}
          maxLength={100}
          onChange={({ currentTarget }) => search.setText(currentTarget.value)}
        />
        <NativeSelect
          label="State"
          data={[
            { value: '', label: 'All' },
            ...STATES.map(({ state: value, label }) => ({ value, label })),
          ]}
          value={state}
          onChange={({ currentTarget }) => setState(currentTarget.value)}
        />
      </Group>
      <Stack>
        <QueryState query={query} rows={6} />
        {rows?.length === 0 && (
          <Empty
            icon={Building2}
            title={search.query || state ? 'No matching accounts' : 'No accounts yet'}
          />
        )}
        {rows && rows.length > 0 && (
          <DataTable
            label="Accounts"
            rows={rows}
            rowKey={({ id }) => id}
            href={({ id }) => pathOf(id)}
            more={more}
            columns={[
              { title: 'Account', cell: ({ name }) => name },
              { title: 'State', cell: account => <StateBadge state={account.state} /> },
              { title: 'Plan', cell: ({ plan }) => plan },
              { title: 'Running', align: 'end', cell: ({ running }) => formatCount(running) },
              { title: 'Usage', align: 'end', cell: ({ usage }) => formatCount(usage) },
              { title: 'API keys', align: 'end', cell: ({ keys }) => formatCount(keys) },
              { title: 'Members', align: 'end', cell: ({ members }) => formatCount(members) },
              { title: 'Created', cell: ({ createdAt }) => <When at={createdAt} /> },
            ]}
          />
        )}
      </Stack>
      {creating && (
        <CreateAccountDialog
          onClose={() => setCreating(false)}
          onCreated={({ id }) => navigate(pathOf(id))}
        />
      )}
    </>
  );
}

export default function OperatorAccountsScreen() {
  const id = new URLSearchParams(useSearch()).get('account');
  return id ? <AccountDetail key={id} id={id} /> : <AllAccounts />;
}
