// Usage as tables: by API key and by day.
import { Text } from '@mantine/core';
import type { Usage } from '../../api/console/contract/accounts.ts';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { formatBytes, formatCount, formatDay, formatMs } from '../parts/format.ts';
import { Section } from '../parts/section.tsx';

type Day = Usage['days'][number];
type OfKey = Usage['keys'][number];

/** Rejected requests included. */
export const hasRenders = ({ ok, sandbox, failed, rejected }: Day) =>
  ok + sandbox + failed + rejected > 0;

const outcomes: Column<Pick<Day, 'ok' | 'sandbox' | 'failed' | 'rejected'>>[] = [
  { title: 'Succeeded', align: 'end', cell: ({ ok }) => formatCount(ok) },
  { title: 'Sandbox', align: 'end', cell: ({ sandbox }) => formatCount(sandbox) },
  { title: 'Failed', align: 'end', cell: ({ failed }) => formatCount(failed) },
  { title: 'Rejected', align: 'end', cell: ({ rejected }) => formatCount(rejected) },
];

const keyName = ({ id, name, last4 }: OfKey) => {
  if (id === null) return 'No API key (playground, MCP)';
  if (name === null) return last4 === null ? `Revoked key (${id})` : `Revoked key …${last4}`;
  return last4 === null ? name : `${name} …${last4}`;
};

export function KeyTable({ keys }: { keys: OfKey[] }) {
  if (keys.length === 0) return null;
  return (
    <Section title="By API key">
      <DataTable<OfKey>
        label="Usage by API key"
        rows={keys}
        rowKey={({ id }) => id ?? 'none'}
        columns={[{ title: 'API key', cell: keyName }, ...outcomes]}
      />
    </Section>
  );
}

const ms = (value: number | null) => (value === null ? '–' : formatMs(value));

export function DayTable({ days }: { days: Day[] }) {
  // Newest first, without days that have no renders.
  const used = days.filter(hasRenders).reverse();
  return (
    <Section title="By day">
      <DataTable<Day>
        label="Usage by day"
        rows={used}
        rowKey={({ day }) => day}
        columns={[
          { title: 'Day', cell: ({ day }) => <time dateTime={day}>{formatDay(day)}</time> },
          ...outcomes,
          { title: 'Pages', align: 'end', cell: ({ pages }) => formatCount(pages) },
          { title: 'Size', align: 'end', cell: ({ bytes }) => formatBytes(bytes) },
          { title: 'p50', align: 'end', cell: ({ p50Ms }) => ms(p50Ms) },
          { title: 'p95', align: 'end', cell: ({ p95Ms }) => ms(p95Ms) },
        ]}
      />
      {used.some(({ p50Ms }) => p50Ms === null) && (
        <Text size="xs" c="dimmed" mt="xs">
          p50 and p95 are shown for days with at least 20 successful renders.
        </Text>
      )}
    </Section>
  );
}
