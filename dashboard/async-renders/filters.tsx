// The filters of the asynchronous renders.
import { NativeSelect } from '@mantine/core';
import { ClearFilters, TextFilter } from '../parts/filtered-list.tsx';
import { useUrlFilters } from '../parts/use-url-filters.ts';
import { queryOf } from '../session/api.ts';
import classes from './async-renders.module.css';
import { STATUS_LABELS } from './status-badge.tsx';

const STATUSES = [
  { value: '', label: 'All' },
  ...Object.entries(STATUS_LABELS).map(([value, label]) => ({ value, label })),
];

/** The list of the renders of a batch. */
export const batchHref = (batch: string) => `/async-renders${queryOf({ batch })}`;

export const useAsyncFilters = () =>
  useUrlFilters(params => {
    const status = params.get('status') ?? '';
    return {
      status: Object.hasOwn(STATUS_LABELS, status) ? status : '',
      batch: params.get('batch') ?? '',
    };
  });

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
