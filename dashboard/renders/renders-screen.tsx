// The log of renders, filtered and page by page.
import { Button } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { FileText, RefreshCw, SearchX } from 'lucide-react';
import type { RenderSummary } from '../../api/console/contract/accounts.ts';
import { Empty } from '../parts/empty.tsx';
import { Failure } from '../parts/failure.tsx';
import { formatCountOf } from '../parts/format.ts';
import { Loading } from '../parts/loading.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { get, queryOf } from '../session/api.ts';
import { useAccount, useSession } from '../session/session.tsx';
import { FilterBar } from './filter-bar.tsx';
import { useFilters } from './filters.ts';
import { RenderTable } from './render-table.tsx';

const FIRST_LOOKED_FOR_MS = 3_000;

interface Page {
  items: RenderSummary[];
  next: string | null;
}

export default function Renders() {
  const { id } = useAccount();
  const { renderLogDays } = useSession().me.installation;
  const filtering = useFilters();
  const { filters, filtered } = filtering;
  const renders = useInfiniteQuery({
    queryKey: ['renders', id, filters],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) =>
      get<Page>(`/accounts/${id}/renders${queryOf({ ...filters, cursor: pageParam })}`, signal),
    getNextPageParam: page => page.next,
    // Who waits for the first one sees it come.
    refetchInterval: ({ state }) =>
      !filtered && state.data?.pages[0]?.items.length === 0 ? FIRST_LOOKED_FOR_MS : false,
  });
  const rows = renders.data?.pages.flatMap(({ items }) => items) ?? [];
  return (
    <>
      <PageHeader
        title="Renders"
        description={`What was rendered in the last ${formatCountOf(renderLogDays, 'day')}. HTML, CSS and scripts are never kept.`}
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
      <FilterBar {...filtering} />
      {renders.error && (
        <Failure
          error={renders.error}
          retry={() => void renders.refetch()}
          title="The renders could not be read"
        />
      )}
      {renders.isPending && <Loading rows={8} height={44} />}
      {renders.isSuccess &&
        rows.length === 0 &&
        (filtered ? (
          <Empty icon={SearchX} title="No render matches these filters">
            <Button variant="default" size="xs" mt="xs" onClick={filtering.clear}>
              Clear filters
            </Button>
          </Empty>
        ) : (
          <Empty icon={FileText} title="No renders yet">
            Each render of the API and the playground is listed here within seconds.
          </Empty>
        ))}
      {rows.length > 0 && (
        <RenderTable
          label="Renders"
          rows={rows}
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
