// An asynchronous render: its status, attempts, times and error, with Cancel and Download.
import { Alert, Anchor, Badge, Button, Code, Stack, Text } from '@mantine/core';
import { Ban, Clock, Download } from 'lucide-react';
import { useState } from 'react';
import { Link, useParams } from 'wouter';
import type { AsyncRenderDetail } from '../../api/console/contract/async-renders.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { DetailPage } from '../parts/detail-page.tsx';
import { FactList } from '../parts/facts.tsx';
import { formatBytes, formatCount, formatMs } from '../parts/format.ts';
import { PageHeader } from '../parts/page-header.tsx';
import { When } from '../parts/when.tsx';
import { RenderError } from '../renders/render-error.tsx';
import { callerOf } from '../renders/render-table.tsx';
import { queryOf } from '../session/api.ts';
import { useAccount, useMay } from '../session/session.tsx';
import { useGet } from '../session/use-get.ts';
import { attemptsMs, hasPdf, isUnfinished } from './async-render.ts';
import { AttemptTable } from './attempt-table.tsx';
import { CancelDialog } from './cancel-dialog.tsx';
import { batchHref } from './filters.tsx';
import { StatusBadge } from './status-badge.tsx';

/** While the render is unfinished. */
const REFRESH_MS = 2_000;

export default function AsyncRenderScreen() {
  const { id = '' } = useParams<{ id: string }>();
  const account = useAccount();
  const render = useGet<AsyncRenderDetail>(
    ['async-render', account.id, id],
    `/accounts/${account.id}/async-renders/${encodeURIComponent(id)}`,
    {
      refetchInterval: ({ state }) => (state.data && isUnfinished(state.data) ? REFRESH_MS : false),
    },
  );
  return (
    <DetailPage
      query={render}
      href="/async-renders"
      back="All asynchronous renders"
      title="Asynchronous render"
      id={id}
    >
      {data => <Detail render={data} />}
    </DetailPage>
  );
}

function Detail({ render }: { render: AsyncRenderDetail }) {
  const { status, reference, started_at, sandbox, error } = render;
  return (
    <>
      <PageHeader
        title="Asynchronous render"
        mark={
          <>
            <StatusBadge status={status} />
            {sandbox && (
              <Badge size="sm" radius="sm" variant="default">
                Sandbox
              </Badge>
            )}
          </>
        }
        description={reference}
        actions={<Actions render={render} />}
      />
      {error && (
        <RenderError code={error.code} reason={error.reason ?? null} message={error.message} />
      )}
      {status === 'queued' && render.attempts > 0 && (
        <Alert variant="light" color="yellow" mb="md" icon={<Clock size={18} aria-hidden />}>
          The last attempt was interrupted or failed. The render waits for the next one.
        </Alert>
      )}
      <Stack gap="md">
        <FactList facts={factsOf(render)} />
        <AttemptTable attempts={render.attempt_log} />
        {reference !== undefined && started_at !== undefined && (
          <Text size="sm">
            Phases, failed requests and console output of each attempt are in the{' '}
            <Anchor
              component={Link}
              href={`/renders${queryOf({ reference })}`}
              inherit
              underline="always"
            >
              render log
            </Anchor>
            .
          </Text>
        )}
      </Stack>
    </>
  );
}

function factsOf(render: AsyncRenderDetail): Parameters<typeof FactList>[0]['facts'] {
  const { status, started_at, ended_at, expires_at, pages, bytes, usage_count, sandbox } = render;
  const ms = attemptsMs(render);
  const time = (at: string | undefined) => at && <When at={at} exact />;
  return [
    ['Created', time(render.created_at)],
    ['Started', time(started_at)],
    ['Ended', time(ended_at)],
    [Date.parse(expires_at) > Date.now() ? 'Expires' : 'Expired', time(expires_at)],
    ['Duration', ms === null ? null : formatMs(ms)],
    ['Pages', pages === undefined ? null : formatCount(pages)],
    ['Size', bytes === undefined ? null : formatBytes(bytes)],
    [
      'PDF',
      status !== 'succeeded' ? null : hasPdf(render) ? 'Available' : 'Deleted when it expired',
    ],
    [
      'Counts toward usage',
      isUnfinished(render)
        ? null
        : usage_count !== undefined
          ? 'Yes'
          : sandbox
            ? 'No (sandbox)'
            : 'No',
    ],
    ['Submitted with', callerOf({ via: 'async', key: render.key, app: null })],
    [
      'Batch',
      render.batch && (
        <Anchor key="batch" component={Link} href={batchHref(render.batch.id)} inherit>
          {render.batch.id}
        </Anchor>
      ),
    ],
    ['Render ID', <Code key="id">{render.id}</Code>],
  ];
}

function Actions({ render }: { render: AsyncRenderDetail }) {
  const account = useAccount();
  const mayWrite = useMay('renders.write');
  const [canceling, setCanceling] = useState(false);
  return (
    <>
      <CopyButton text={render.id} label="Copy render ID" />
      {mayWrite && hasPdf(render) && (
        <Button
          size="xs"
          component="a"
          href={`/console/v1/accounts/${account.id}/async-renders/${render.id}/pdf`}
          download
          leftSection={<Download size={14} aria-hidden />}
        >
          Download PDF
        </Button>
      )}
      {mayWrite && isUnfinished(render) && (
        <Button
          size="xs"
          variant="default"
          leftSection={<Ban size={14} aria-hidden />}
          onClick={() => setCanceling(true)}
        >
          Cancel render
        </Button>
      )}
      <CancelDialog
        folder="async-renders"
        query="async-render"
        id={render.id}
        title="Cancel this render?"
        confirm="Cancel render"
        dismiss="Keep render"
        done="Render canceled."
        opened={canceling}
        onClose={() => setCanceling(false)}
      >
        A queued render will not start. A running one stops within a second. A canceled render has
        no PDF and does not count toward your usage. This cannot be undone.
      </CancelDialog>
    </>
  );
}
