// The filters of the render log.
import { Button, NativeSelect, TextInput } from '@mantine/core';
import { ListFilter } from 'lucide-react';
import { useState } from 'react';
import type { Key } from '../../api/console/contract/accounts.ts';
import { ClearFilters, TextFilter } from '../parts/filtered-list.tsx';
import { useAccount, useMay } from '../session/session.tsx';
import { useGet } from '../session/use-get.ts';
import classes from './filter-bar.module.css';
import { type Filters, localTime, timeOf, type useFilters } from './filters.ts';
import { CODES } from './hints.ts';

/** The management API's value for renders without an API key. */
const WITHOUT_KEY = 'none';
const STATUSES = [
  { value: '', label: 'All' },
  { value: 'ok', label: 'Succeeded' },
  { value: 'failed', label: 'Failed' },
  { value: 'rejected', label: 'Rejected' },
  { value: 'client_closed', label: 'Canceled' },
];

export function FilterBar({ filters, change, clear, filtered }: ReturnType<typeof useFilters>) {
  const { id } = useAccount();
  // The filters are collapsible on phones only.
  const [opened, setOpened] = useState(false);
  const mayReadKeys = useMay('keys.read');
  const keys = useGet<{ items: Key[] }>(['keys', id], `/accounts/${id}/keys`, {
    enabled: mayReadKeys,
  });
  // A revoked key is not in the list, but the log can still be filtered by it.
  const known = (keys.data?.items ?? []).map(key => ({
    value: key.id,
    label: `${key.name} …${key.last4}`,
  }));
  const keyChoices = [
    { value: '', label: 'All' },
    ...known,
    { value: WITHOUT_KEY, label: 'No API key (playground, MCP)' },
    ...(filters.key &&
    filters.key !== WITHOUT_KEY &&
    !known.some(({ value }) => value === filters.key)
      ? [{ value: filters.key, label: `Key ${filters.key}` }]
      : []),
  ];
  const codes = filters.code && !CODES.includes(filters.code) ? [...CODES, filters.code] : CODES;
  return (
    <search aria-label="Filter renders" className={classes.bar}>
      <Button
        size="xs"
        variant="default"
        className={classes.toggle}
        leftSection={<ListFilter size={14} aria-hidden />}
        aria-expanded={opened}
        onClick={() => setOpened(!opened)}
      >
        {filtered ? 'Filters (active)' : 'Filters'}
      </Button>
      <div className={classes.fields} data-opened={opened || undefined}>
        <NativeSelect
          size="xs"
          label="Status"
          data={STATUSES}
          value={filters.status}
          onChange={event => change({ status: event.currentTarget.value as Filters['status'] })}
        />
        <NativeSelect
          size="xs"
          label="Error"
          data={[{ value: '', label: 'All' }, ...codes]}
          value={filters.code}
          onChange={event => change({ code: event.currentTarget.value })}
        />
        <NativeSelect
          size="xs"
          label="API key"
          data={keyChoices}
          value={filters.key}
          onChange={event => change({ key: event.currentTarget.value })}
        />
        <TextFilter
          label="Reference"
          maxLength={128}
          value={filters.reference}
          apply={reference => change({ reference })}
        />
        <TextInput
          size="xs"
          type="datetime-local"
          label="From"
          value={localTime(filters.from)}
          onChange={event => change({ from: timeOf(event.currentTarget.value) })}
        />
        <TextInput
          size="xs"
          type="datetime-local"
          label="To"
          value={localTime(filters.to)}
          onChange={event => change({ to: timeOf(event.currentTarget.value) })}
        />
        {filtered && <ClearFilters clear={clear} />}
      </div>
    </search>
  );
}
