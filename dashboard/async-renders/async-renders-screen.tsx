// The asynchronous renders of the account: filter by status, pagination, and a first request.
import { Badge, Button, Group, NativeSelect, Stack, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { FileClock, RefreshCw, SearchX } from 'lucide-react';
import { useSearchParams } from 'wouter';
import type {
  AsyncRenderView,
  AsyncRenderViews,
} from '../../api/console/contract/async-renders.ts';
import { CodeBlock } from '../parts/code-block.tsx';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { Empty } from '../parts/empty.tsx';
import { Failure } from '../parts/failure.tsx';
import { firstSubmission, KEY_PLACEHOLDER } from '../parts/first-call.ts';
import { formatBytes, formatCount, formatMs } from '../parts/format.ts';
import { Loading } from '../parts/loading.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { When } from '../parts/when.tsx';
import classes from '../renders/render-table.module.css';
import { callerOf } from '../renders/render-table.tsx';
import { get, queryOf } from '../session/api.ts';
import { useAccount, useSession } from '../session/session.tsx';
import { attemptsMs, isUnfinished } from './async-render.ts';
import { STATUS_LABELS, StatusBadge } from './status-badge.tsx';

/** While a render is unfinished or the list is empty; for each loaded page. */
const REFRESH_MS = 3_000;

const STATUSES = [
  { value: '', label: 'All' },
  ...Object.entries(STATUS_LABELS).map(([value, label]) => ({ value, label })),
];

const COLUMNS: Column<AsyncRenderView>[] = [
  {
    title: 'Render',
    fill: true,
    cell: ({ id, status, reference, sandbox, error }) => (
      <Group gap="sm" wrap="nowrap" component="span">
        <StatusBadge status={status} />
        <span className={classes.what}>
          <span className={classes.source}>{reference ?? id}</span>
          {error && (
            <Text span size="xs" c="dimmed" ff="monospace">
              {error.reason ?? error.code}
            </Text>
          )}
        </span>
        {sandbox && (
          <Badge size="sm" radius="sm" variant="default" tt="none" className={classes.mark}>
            Sandbox
          </Badge>
        )}
      </Group>
    ),
  },
  {
    title: 'API key',
    cell: ({ key }) => (
      <span className={classes.caller}>{callerOf({ via: 'async', key, app: null })}</span>
    ),
  },
  {
    title: 'Duration',
    align: 'end',
    cell: render => {
      const ms = attemptsMs(render);
      return ms === null ? '–' : formatMs(ms);
    },
  },
  {
    title: 'Pages',
    align: 'end',
    cell: ({ pages }) => (pages === undefined ? '–' : formatCount(pages)),
  },
  {
    title: 'Size',
    align: 'end',
    cell: ({ bytes }) => (bytes === undefined ? '–' : formatBytes(bytes)),
  },
  { title: 'Created', align: 'end', cell: ({ created_at }) => <When at={created_at} /> },
];

/** The filter is kept in the URL: a filtered list can be shared, and Back undoes a filter. */
function useStatusFilter() {
  const [params, setParams] = useSearchParams();
  const given = params.get('status') ?? '';
  const status = given in STATUS_LABELS ? given : '';
  const change = (next: string) => setParams(next === '' ? {} : { status: next });
  return { status, change };
}

export default function AsyncRenders() {
  const { id } = useAccount();
  const { status, change } = useStatusFilter();
  const renders = useInfiniteQuery({
    queryKey: ['async-renders', id, status],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) =>
      get<AsyncRenderViews>(
        `/accounts/${id}/async-renders${queryOf({ status, cursor: pageParam })}`,
        signal,
      ),
    getNextPageParam: page => page.next,
    refetchInterval: ({ state }) => {
      const pages = state.data?.pages ?? [];
      const items = pages.flatMap(page => page.items);
      return items.some(isUnfinished) || (pages.length > 0 && items.length === 0)
        ? REFRESH_MS * pages.length
        : false;
    },
  });
  const rows = renders.data?.pages.flatMap(({ items }) => items) ?? [];
  return (
    <>
      <PageHeader
        title="Asynchronous renders"
        description="Renders from POST /v1/renders. They wait until your plan allows them to run. You can download a PDF until its render expires."
        actions={
          <Button
            variant="default"
            size="xs"
            leftSection={<RefreshCw size={14} aria-hidden />}
            aria-disabled={renders.isFetching}
            onClick={() => void renders.refetch()}
          >
            Refresh
          </Button>
        }
      />
      <search aria-label="Filter asynchronous renders">
        <NativeSelect
          size="xs"
          label="Status"
          data={STATUSES}
          value={status}
          maw={224}
          mb="md"
          onChange={event => change(event.currentTarget.value)}
        />
      </search>
      {renders.error && (
        <Failure
          error={renders.error}
          retry={() => void renders.refetch()}
          title="Could not load asynchronous renders"
        />
      )}
      {renders.isPending && <Loading rows={8} height={44} />}
      {renders.isSuccess &&
        rows.length === 0 &&
        (status !== '' ? (
          <Empty icon={SearchX} title="No renders match this filter">
            <Button variant="default" size="xs" mt="xs" onClick={() => change('')}>
              Clear filter
            </Button>
          </Empty>
        ) : (
          <NoRenders />
        ))}
      {rows.length > 0 && (
        <DataTable
          label="Asynchronous renders"
          columns={COLUMNS}
          rows={rows}
          rowKey={render => render.id}
          href={render => `/async-renders/${encodeURIComponent(render.id)}`}
          more={{
            has: renders.hasNextPage,
            busy: renders.isFetchingNextPage,
            load: () => void renders.fetchNextPage(),
          }}
        />
      )}
    </>
  );
}

function NoRenders() {
  const { publicUrl } = useSession().me.installation;
  return (
    <Stack>
      <Empty icon={FileClock} title="No asynchronous renders yet">
        Replace {KEY_PLACEHOLDER} in this request with your API key.
      </Empty>
      <CodeBlock title="curl" code={firstSubmission(publicUrl)} copyLabel="Copy request" />
    </Stack>
  );
}
