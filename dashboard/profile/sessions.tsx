// Where one is signed in, and how to end that.
import { Badge, Button, Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { SessionInfo } from '../../api/console/contract/users.ts';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { Failure } from '../parts/failure.tsx';
import { Loading } from '../parts/loading.tsx';
import { Section } from '../parts/section.tsx';
import { useAction } from '../parts/use-action.ts';
import { When } from '../parts/when.tsx';
import { get, remove } from '../session/api.ts';
import { deviceLabel } from './device.ts';

const WAYS: Record<SessionInfo['method'], string> = {
  password: 'Password',
  company: 'Company sign-in',
  setup: 'First set-up',
  invitation: 'Invitation',
};

export function SessionsPanel() {
  const sessions = useQuery({
    queryKey: ['sessions'],
    queryFn: ({ signal }) => get<{ items: SessionInfo[] }>('/me/sessions', signal),
  });
  const [ending, setEnding] = useState(false);
  const end = useAction({
    run: ({ id }: SessionInfo) => remove(`/me/sessions/${id}`),
    done: 'The session was ended.',
    refresh: [['sessions']],
  });
  const endOthers = useAction({
    run: () => remove('/me/sessions'),
    done: 'All your other sessions were ended.',
    refresh: [['sessions']],
    after: () => setEnding(false),
    errorInPlace: true,
  });
  const others = (sessions.data?.items.length ?? 0) > 1;
  return (
    <Section
      title="Sessions"
      actions={
        others && (
          <Button size="xs" variant="default" onClick={() => setEnding(true)}>
            End all others
          </Button>
        )
      }
    >
      {sessions.isPending && <Loading rows={2} height={52} />}
      {sessions.error && <Failure error={sessions.error} retry={() => void sessions.refetch()} />}
      {sessions.data && (
        <DataTable
          label="Sessions"
          rows={sessions.data.items}
          rowKey={({ id }) => id}
          columns={[
            {
              title: 'Device',
              cell: ({ userAgent, current }) => (
                <Group gap={6}>
                  <span title={userAgent}>{deviceLabel(userAgent)}</span>
                  {current && (
                    <Badge variant="light" size="xs">
                      This one
                    </Badge>
                  )}
                </Group>
              ),
            },
            { title: 'Address', cell: ({ ip }) => ip },
            {
              title: 'Signed in',
              cell: ({ createdAt, method }) => (
                <>
                  <When at={createdAt} />
                  <Text size="xs" c="dimmed">
                    {WAYS[method]}
                  </Text>
                </>
              ),
            },
            { title: 'Last used', cell: ({ lastSeenAt }) => <When at={lastSeenAt} /> },
            {
              title: 'Actions',
              quietTitle: true,
              align: 'end',
              cell: session =>
                !session.current && (
                  <Button
                    size="xs"
                    variant="default"
                    loading={end.isPending && end.variables.id === session.id}
                    aria-label={`End the session of ${deviceLabel(session.userAgent)} at ${session.ip}`}
                    onClick={() => end.mutate(session)}
                  >
                    End
                  </Button>
                ),
            },
          ]}
        />
      )}
      <ConfirmDialog
        opened={ending}
        danger
        title="End all other sessions?"
        confirm="End them"
        busy={endOthers.isPending}
        error={endOthers.error}
        onConfirm={() => endOthers.mutate()}
        onClose={() => {
          endOthers.reset();
          setEnding(false);
        }}
      >
        Every other browser in which you are signed in must sign in again. This one stays.
      </ConfirmDialog>
    </Section>
  );
}
