// The MCP apps that the user has authorized, with the option to disconnect them.
import { Anchor, Button, Text } from '@mantine/core';
import { Plug } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import type { ConnectedApps } from '../../api/console/contract/users.ts';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { Empty } from '../parts/empty.tsx';
import { QueryState } from '../parts/query-state.tsx';
import { Section } from '../parts/section.tsx';
import { useAction } from '../parts/use-action.ts';
import { When } from '../parts/when.tsx';
import { remove } from '../session/api.ts';
import { useSession } from '../session/session.tsx';
import { useGet } from '../session/use-get.ts';

type ConnectedApp = ConnectedApps['items'][number];

const appName = ({ name }: Pick<ConnectedApp, 'name'>): string => name ?? 'Unnamed app';

/** `redirect` is a host with its port, or the URL scheme of a local app with its colon. */
function appOrigin({ redirect }: Pick<ConnectedApp, 'redirect'>): string {
  if (/^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(redirect)) return `Local app (${redirect})`;
  return redirect.endsWith(':') ? `App for ${redirect} links` : redirect;
}

/** The dialog is open while `app` is set. */
function DisconnectDialog({ app, onClose }: { app: ConnectedApp | undefined; onClose(): void }) {
  const disconnect = useAction<ConnectedApp>({
    run: ({ id }) => remove(`/me/apps/${id}`),
    done: 'App disconnected.',
    refresh: [['apps']],
    after: onClose,
    errorInPlace: true,
  });
  return (
    <ConfirmDialog
      opened={app !== undefined}
      danger
      title="Disconnect this app?"
      confirm="Disconnect app"
      action={disconnect}
      onConfirm={() => app && disconnect.mutate(app)}
      onClose={onClose}
    >
      {app && (
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          <b>{appName(app)}</b> will lose access immediately and must ask for your approval again.
          Links to existing PDFs work until they expire.
        </Text>
      )}
    </ConfirmDialog>
  );
}

function NoApps() {
  const { account } = useSession();
  return (
    <Empty icon={Plug} title="No connected apps">
      Apps you’ve authorized will appear here.{' '}
      {account && (
        <>
          Go to{' '}
          <Anchor component={Link} href="/connect" underline="always" inherit>
            Connect
          </Anchor>{' '}
          to add one.
        </>
      )}
    </Empty>
  );
}

export function ConnectedAppsPanel() {
  const apps = useGet<ConnectedApps>(['apps'], '/me/apps');
  const [disconnecting, setDisconnecting] = useState<ConnectedApp>();
  return (
    <Section title="Connected apps">
      <QueryState query={apps} rows={2} height={52} />
      {apps.data?.items.length === 0 && <NoApps />}
      {apps.data && apps.data.items.length > 0 && (
        <DataTable
          label="Connected apps"
          rows={apps.data.items}
          rowKey={({ id }) => id}
          columns={[
            {
              title: 'App',
              cell: app => (
                <>
                  <span>{appName(app)}</span>
                  <Text size="xs" c="dimmed" fw={400}>
                    {appOrigin(app)}
                  </Text>
                </>
              ),
            },
            { title: 'Account', cell: ({ account }) => account.name ?? account.id },
            { title: 'Connected', cell: ({ connectedAt }) => <When at={connectedAt} /> },
            {
              title: 'Last used',
              cell: ({ lastUsedAt }) => (lastUsedAt ? <When at={lastUsedAt} /> : 'Never'),
            },
          ]}
          actions={app => (
            <Button
              size="xs"
              variant="default"
              aria-label={`Disconnect ${appName(app)}, ${appOrigin(app)}`}
              onClick={() => setDisconnecting(app)}
            >
              Disconnect
            </Button>
          )}
        />
      )}
      <DisconnectDialog app={disconnecting} onClose={() => setDisconnecting(undefined)} />
    </Section>
  );
}
