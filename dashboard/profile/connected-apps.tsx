// The apps that render in one's name, and how to end that.
import { Anchor, Button, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Plug } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import type { ConnectedApps } from '../../api/console/contract/users.ts';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { Empty } from '../parts/empty.tsx';
import { Failure } from '../parts/failure.tsx';
import { Loading } from '../parts/loading.tsx';
import { Section } from '../parts/section.tsx';
import { useAction } from '../parts/use-action.ts';
import { When } from '../parts/when.tsx';
import { get, remove } from '../session/api.ts';
import { useSession } from '../session/session.tsx';

type ConnectedApp = ConnectedApps['items'][number];

const appName = ({ name }: Pick<ConnectedApp, 'name'>): string =>
  name ?? 'An app that says no name';

/** `redirect` is a host with its port, or the scheme of a program with its colon. */
function appPlace({ redirect }: Pick<ConnectedApp, 'redirect'>): string {
  if (/^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(redirect))
    return `A program on a computer (${redirect})`;
  return redirect.endsWith(':') ? `The program that opens ${redirect} links` : redirect;
}

/** `app`: the one to be disconnected; the dialog is open while there is one. */
function DisconnectDialog({ app, onClose }: { app: ConnectedApp | undefined; onClose(): void }) {
  const disconnect = useAction<ConnectedApp>({
    run: ({ id }) => remove(`/me/apps/${id}`),
    done: 'The app was disconnected.',
    refresh: [['apps']],
    after: onClose,
    errorInPlace: true,
  });
  return (
    <ConfirmDialog
      opened={app !== undefined}
      danger
      title="Disconnect this app?"
      confirm="Disconnect it"
      busy={disconnect.isPending}
      error={disconnect.error}
      onConfirm={() => app && disconnect.mutate(app)}
      onClose={() => {
        disconnect.reset();
        onClose();
      }}
    >
      {app && (
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          The next call of <b>{appName(app)}</b> is refused, and it must ask you again. PDFs that it
          has links to stay until their link ends.
        </Text>
      )}
    </ConfirmDialog>
  );
}

function NoApps() {
  const { account } = useSession();
  return (
    <Empty icon={Plug} title="No app is connected">
      A chat program or editor that you let render in your name stands here, with when it was last
      used. How to connect one is told on{' '}
      {account ? (
        <Anchor component={Link} href="/connect" underline="always" inherit>
          Connect
        </Anchor>
      ) : (
        'Connect, once you are a member of an account'
      )}
      .
    </Empty>
  );
}

export function ConnectedAppsPanel() {
  const apps = useQuery({
    queryKey: ['apps'],
    queryFn: ({ signal }) => get<ConnectedApps>('/me/apps', signal),
  });
  const [leaving, setLeaving] = useState<ConnectedApp>();
  return (
    <Section title="Connected apps">
      {apps.isPending && <Loading rows={2} height={52} />}
      {apps.error && <Failure error={apps.error} retry={() => void apps.refetch()} />}
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
                    {appPlace(app)}
                  </Text>
                </>
              ),
            },
            { title: 'Renders in', cell: ({ account }) => account.name ?? account.id },
            { title: 'Connected', cell: ({ connectedAt }) => <When at={connectedAt} /> },
            {
              title: 'Last used',
              cell: ({ lastUsedAt }) => (lastUsedAt ? <When at={lastUsedAt} /> : 'Never'),
            },
            {
              title: 'Actions',
              quietTitle: true,
              align: 'end',
              cell: app => (
                <Button
                  size="xs"
                  variant="default"
                  aria-label={`Disconnect ${appName(app)}, ${appPlace(app)}`}
                  onClick={() => setLeaving(app)}
                >
                  Disconnect
                </Button>
              ),
            },
          ]}
        />
      )}
      <DisconnectDialog app={leaving} onClose={() => setLeaving(undefined)} />
    </Section>
  );
}
