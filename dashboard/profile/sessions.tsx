// The active sessions of the signed-in user, with the option to sign them out.
import { Badge, Button, Group, Text } from '@mantine/core';
import { useState } from 'react';
import type { SessionInfo } from '../../api/console/contract/users.ts';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { QueryState } from '../parts/query-state.tsx';
import { Section } from '../parts/section.tsx';
import { useAction } from '../parts/use-action.ts';
import { When } from '../parts/when.tsx';
import { remove } from '../session/api.ts';
import { useGet } from '../session/use-get.ts';
import { deviceLabel } from './device.ts';

const METHODS: Record<SessionInfo['method'], string> = {
  password: 'Password',
  company: 'SSO',
  setup: 'Initial setup',
  invitation: 'Invitation',
};

export function SessionsPanel() {
  const sessions = useGet<{ items: SessionInfo[] }>(['sessions'], '/me/sessions');
  const [ending, setEnding] = useState(false);
  const end = useAction({
    run: ({ id }: SessionInfo) => remove(`/me/sessions/${id}`),
    done: 'Session signed out.',
    refresh: [['sessions']],
  });
  const endOthers = useAction({
    run: () => remove('/me/sessions'),
    done: 'All other sessions signed out.',
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
            Sign out others
          </Button>
        )
      }
    >
      <QueryState query={sessions} rows={2} height={52} />
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
                      Current
                    </Badge>
                  )}
                </Group>
              ),
            },
            { title: 'IP address', cell: ({ ip }) => ip },
            {
              title: 'Signed in',
              cell: ({ createdAt, method }) => (
                <>
                  <When at={createdAt} />
                  <Text size="xs" c="dimmed">
                    {METHODS[method]}
                  </Text>
                </>
              ),
            },
            { title: 'Last used', cell: ({ lastSeenAt }) => <When at={lastSeenAt} /> },
          ]}
          actions={session =>
            !session.current && (
              <Button
                size="xs"
                variant="default"
                loading={end.isPending && end.variables.id === session.id}
                aria-label={`Sign out ${deviceLabel(session.userAgent)} at ${session.ip}`}
                onClick={() => end.mutate(session)}
              >
                Sign out
              </Button>
            )
          }
        />
      )}
      <ConfirmDialog
        opened={ending}
        danger
        title="Sign out all other sessions?"
        confirm="Sign out"
        action={endOthers}
        onConfirm={() => endOthers.mutate()}
        onClose={() => setEnding(false)}
      >
        You will be signed out everywhere except in this browser.
      </ConfirmDialog>
    </Section>
  );
}
