// The asynchronous renders of the account: filter by status, pagination, and a first request.
import { Anchor, Stack } from '@mantine/core';
import { FileClock } from 'lucide-react';
import { Link } from 'wouter';
import type { AsyncRenderView } from '../../api/console/contract/async-renders.ts';
import { CodeBlock } from '../parts/code-block.tsx';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { Empty } from '../parts/empty.tsx';
import { ListStates, RefreshList } from '../parts/filtered-list.tsx';
import { firstSubmission, KEY_PLACEHOLDER } from '../parts/first-call.ts';
import { formatBytes, formatCount, formatMs } from '../parts/format.ts';
import { PageHeader } from '../parts/page-header.tsx';
import { usePages } from '../parts/use-pages.ts';
import { When } from '../parts/when.tsx';
import { RenderName } from '../renders/render-name.tsx';
import classes from '../renders/render-table.module.css';
import { callerOf } from '../renders/render-table.tsx';
import { useAccount, useSession } from '../session/session.tsx';
import { attemptsMs, isUnfinished } from './async-render.ts';
import { BatchPanel } from './batch-panel.tsx';
import { AsyncFilterBar, batchHref, useAsyncFilters } from './filters.tsx';
import { StatusBadge } from './status-badge.tsx';

/** While a render is unfinished or the list is empty; for each loaded page. */
const REFRESH_MS = 3_000;

const COLUMNS: Column<AsyncRenderView>[] = [
  {
    title: 'Render',
    fill: true,
    cell: ({ id, status, reference, sandbox, error }) => (
      <RenderName
        badge={<StatusBadge status={status} />}
        name={reference ?? id}
        error={error && (error.reason ?? error.code)}
        sandbox={sandbox}
      />
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

/** The batch of a render filters the list. */
const BATCH: Column<AsyncRenderView> = {
  title: 'Batch',
  cell: ({ batch }) =>
    batch ? (
      <Anchor
        component={Link}
        href={batchHref(batch.id)}
        inherit
        title={batch.id}
        style={{ whiteSpace: 'nowrap' }}
      >
        …{batch.id.slice(-6)}
      </Anchor>
    ) : (
      '–'
    ),
};

export default function AsyncRenders() {
  const { id } = useAccount();
  const filtering = useAsyncFilters();
  const { filters, filtered } = filtering;
  const renders = usePages<AsyncRenderView>(
    ['async-renders', id],
    `/accounts/${id}/async-renders`,
    filters,
    pages => {
      const items = pages.flatMap(page => page.items);
      return items.some(isUnfinished) || (pages.length > 0 && items.length === 0)
        ? REFRESH_MS * pages.length
        : false;
    },
  );
  const { rows = [], more } = renders;
  const withBatch = filters.batch === '' && rows.some(({ batch }) => batch !== undefined);
  return (
    <>
      <PageHeader
        title="Asynchronous renders"
        description="Renders from POST /v1/renders. They wait until your plan allows them to run. You can download a PDF until its render expires."
        actions={<RefreshList list={renders} />}
      />
      <AsyncFilterBar {...filtering} />
      {filters.batch !== '' && <BatchPanel key={filters.batch} id={filters.batch} />}
      <ListStates
        list={renders}
        what="asynchronous renders"
        filtered={filtered}
        clear={filtering.clear}
      >
        <NoRenders />
      </ListStates>
      {rows.length > 0 && (
        <DataTable
          label="Asynchronous renders"
          columns={withBatch ? [...COLUMNS.slice(0, 2), BATCH, ...COLUMNS.slice(2)] : COLUMNS}
          rows={rows}
          rowKey={render => render.id}
          href={render => `/async-renders/${encodeURIComponent(render.id)}`}
          more={more}
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
