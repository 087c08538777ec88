// The filters of the asynchronous renders, kept in the URL: a filtered list can be shared, and Back
// undoes a filter.
import { NativeSelect } from '@mantine/core';
import { useSearchParams } from 'wouter';
import { ClearFilters, TextFilter } from '../parts/filtered-list.tsx';
import { queryOf } from '../session/api.ts';
import classes from './async-renders.module.css';
import { STATUS_LABELS } from './status-badge.tsx';

interface AsyncFilters {
  /** A status, or empty. */
  status: string;
  /** The ID of a batch, or empty. */
  batch: string;
}

const STATUSES = [
  { value: '', label: 'All' },
  ...Object.entries(STATUS_LABELS).map(([value, label]) => ({ value, label })),
];

/** The list of the renders of a batch. */
export const batchHref = (batch: string) => `/async-renders${queryOf({ batch })}`;

export function useAsyncFilters() {
  const [params, setParams] = useSearchParams();
  const status = params.get('status') ?? '';
  const filters: AsyncFilters = {
    status: status in STATUS_LABELS ? status : '',
    batch: params.get('batch') ?? '',
  };
  const change = (changed: Partial<AsyncFilters>) => {
    const chosen = Object.entries({ ...filters, ...changed }).filter(([, value]) => value !== '');
    setParams(Object.fromEntries(chosen));
  };
  return {
    filters,
    change,
    clear: () => change({ status: '', batch: '' }),
    filtered: filters.status !== '' || filters.batch !== '',
  };
}

export function AsyncFilterBar({
  filters,
  change,
  clear,
  filtered,
}: ReturnType<typeof useAsyncFilters>) {
  return (
    <search aria-label="Filter asynchronous renders" className={classes.filters}>
      <NativeSelect
        size="xs"
        label="Status"
        data={STATUSES}
        value={filters.status}
        onChange={event => change({ status: event.currentTarget.value })}
      />
      <TextFilter
        label="Batch ID"
        placeholder="bat_…"
        w="20rem"
        maw="100%"
        maxLength={40}
        value={filters.batch}
        apply={text => change({ batch: text.trim() })}
      />
      {filtered && <ClearFilters clear={clear} />}
    </search>
  );
}
