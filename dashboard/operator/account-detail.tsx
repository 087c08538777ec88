// An account in the operator's view: plan and state, recent renders, team and API keys.
import { Button, Code, SimpleGrid, Stack, Text } from '@mantine/core';
import { UserPlus } from 'lucide-react';
import { useState } from 'react';
import type { Key, OperatorAccount, Overview } from '../../api/console/contract/accounts.ts';
import type { Team } from '../../api/console/contract/users.ts';
import { DataTable } from '../parts/data-table.tsx';
import { BackLink } from '../parts/detail-page.tsx';
import { Fact } from '../parts/fact.tsx';
import { formatCount, formatKey } from '../parts/format.ts';
import { PageHeader } from '../parts/page-header.tsx';
import { Panel } from '../parts/panel.tsx';
import { QueryState } from '../parts/query-state.tsx';
import { Section } from '../parts/section.tsx';
import { When } from '../parts/when.tsx';
import { RENDER_COLUMNS } from '../renders/render-table.tsx';
import { useGet } from '../session/use-get.ts';
import { InviteDialog } from '../team/invite-dialog.tsx';
import { roleLabel } from '../team/roles.ts';
import { ChangeAccount } from './change-account.tsx';
import { DeleteAccount } from './delete-account.tsx';
import { FigureList } from './figure-list.tsx';
import classes from './operator.module.css';
import { StateBadge } from './states.tsx';

function Renders({ overview }: { overview: Overview }) {
  if (overview.recent.length === 0) return <Text size="sm">No renders yet.</Text>;
  return (
    <DataTable
      label="Recent renders"
      rows={overview.recent}
      rowKey={({ id }) => id}
      columns={RENDER_COLUMNS}
    />
  );
}

function Keys({ keys }: { keys: Key[] }) {
  if (keys.length === 0) return <Text size="sm">No API keys.</Text>;
  return (
    <DataTable
      label="API keys"
      rows={keys}
      rowKey={({ id }) => id}
      columns={[
        { title: 'Name', cell: ({ name }) => name },
        { title: 'Key', cell: key => <Code>{formatKey(key)}</Code> },
        {
          title: 'Last used',
          cell: ({ lastUsedAt, scopes }) =>
            lastUsedAt ? <When at={lastUsedAt} /> : scopes.includes('render') ? 'Never' : '–',
        },
        {
          title: 'Expires',
          cell: ({ expiresAt, expired }) =>
            expired ? 'Expired' : expiresAt ? <When at={expiresAt} /> : 'Never',
        },
      ]}
    />
  );
}

function InviteButton({ accountId }: { accountId: string }) {
  const [opened, setOpened] = useState(false);
  return (
    <>
      <Button
        variant="default"
        leftSection={<UserPlus size={16} aria-hidden />}
        onClick={() => setOpened(true)}
      >
        Invite member
      </Button>
      <InviteDialog
        opened={opened}
        path={`/operator/accounts/${accountId}/invitations`}
        accountId={accountId}
        own="owner"
        initialRole="owner"
        onClose={() => setOpened(false)}
      />
    </>
  );
}

export function AccountDetail({ id }: { id: string }) {
  const account = useGet<OperatorAccount>(['operator', 'account', id], `/operator/accounts/${id}`);
  const overview = useGet<Overview>(['overview', id], `/accounts/${id}/overview`);
  const team = useGet<Team>(['team', id], `/accounts/${id}/team`);
  const keys = useGet<{ items: Key[] }>(['keys', id], `/accounts/${id}/keys`);
  const { data } = account;
  return (
    <>
      <BackLink href="/operator/accounts">All accounts</BackLink>
      <PageHeader
        title={data?.name ?? 'Account'}
        mark={data && <StateBadge state={data.state} />}
        actions={data && <InviteButton accountId={id} />}
      />
      <QueryState query={account} rows={4} height={72} />
      {data && (
        <Stack gap="lg">
          <FigureList
            figures={[
              ['Plan', data.plan],
              ['Usage this period', formatCount(data.usage)],
              ['Running now', formatCount(data.running)],
              ['API keys', formatCount(data.keys)],
              ['Members', formatCount(data.members)],
            ]}
          />
          <SimpleGrid cols={{ base: 1, md: 2 }} className={classes.top}>
            <ChangeAccount
              key={`${data.plan} ${data.state} ${data.intranet} ${data.rendererReuse}`}
              account={data}
            />
            <Panel title="Account">
              <Stack gap="sm">
                <div>
                  <Text size="xs" c="dimmed">
                    Created
                  </Text>
                  <When at={data.createdAt} exact />
                </div>
                <Fact name="Account ID" value={data.id} copyLabel="Copy account ID" />
                <div>
                  <DeleteAccount account={data} />
                </div>
              </Stack>
            </Panel>
          </SimpleGrid>
          <Section title="Recent renders">
            <QueryState query={overview} rows={3} />
            {overview.data && <Renders overview={overview.data} />}
          </Section>
          <Section title="Team">
            <QueryState query={team} rows={2} />
            {team.data &&
              (team.data.members.length === 0 ? (
                <Text size="sm">No members yet. Invite the owner of this account.</Text>
              ) : (
                <DataTable
                  label="Team"
                  rows={team.data.members}
                  rowKey={({ user }) => user}
                  columns={[
                    { title: 'Name', cell: ({ name }) => name },
                    { title: 'Email', cell: ({ email }) => email },
                    { title: 'Role', cell: ({ role }) => roleLabel(role) },
                  ]}
                />
              ))}
          </Section>
          <Section title="API keys">
            <QueryState query={keys} rows={2} />
            {keys.data && <Keys keys={keys.data.items} />}
          </Section>
        </Stack>
      )}
    </>
  );
}
