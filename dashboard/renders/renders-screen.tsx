// The render log, with filters and pagination.
import { FileText } from 'lucide-react';
import type { RenderSummary } from '../../api/console/contract/accounts.ts';
import { Empty } from '../parts/empty.tsx';
import { ListStates, RefreshList } from '../parts/filtered-list.tsx';
import { formatCountOf } from '../parts/format.ts';
import { PageHeader } from '../parts/page-header.tsx';
import { usePages } from '../parts/use-pages.ts';
import { useAccount, useSession } from '../session/session.tsx';
import { FilterBar } from './filter-bar.tsx';
import { useFilters } from './filters.ts';
import { RenderTable } from './render-table.tsx';

/** The refetch interval while the log is empty. */
const EMPTY_REFETCH_MS = 3_000;

export default function Renders() {
  const { id } = useAccount();
  const { renderLogDays } = useSession().me.installation;
  const filtering = useFilters();
  const { filters, filtered } = filtering;
  const renders = usePages<RenderSummary>(
    ['renders', id],
    `/accounts/${id}/renders`,
    filters,
    // Shows the first render of a new account without a manual refresh.
    ([first]) => (!filtered && first?.items.length === 0 ? EMPTY_REFETCH_MS : false),
  );
  const { rows = [], more } = renders;
  return (
    <>
      <PageHeader
        title="Renders"
        description={`Renders from the last ${formatCountOf(renderLogDays, 'day')}. The log never contains HTML, CSS or scripts.`}
        actions={<RefreshList list={renders} />}
      />
      <FilterBar {...filtering} />
      <ListStates list={renders} what="renders" filtered={filtered} clear={filtering.clear}>
        <Empty icon={FileText} title="No renders yet">
          Renders from the API and the playground appear here within seconds.
        </Empty>
      </ListStates>
      {rows.length > 0 && <RenderTable label="Renders" rows={rows} more={more} />}
    </>
  );
}
