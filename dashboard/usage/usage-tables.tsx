// The figures of usage as tables: by key, and by day for who does not read charts.
import type { Usage } from '../../api/console/contract/accounts.ts';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { formatBytes, formatCount, formatDay, formatMs } from '../parts/format.ts';
import { Section } from '../parts/section.tsx';

type Day = Usage['days'][number];
type OfKey = Usage['keys'][number];

const outcomes: Column<{ ok: number; sandbox: number; failed: number }>[] = [
  { title: 'OK', align: 'end', cell: ({ ok }) => formatCount(ok) },
  { title: 'Sandbox', align: 'end', cell: ({ sandbox }) => formatCount(sandbox) },
  { title: 'Failed', align: 'end', cell: ({ failed }) => formatCount(failed) },
];

const keyName = ({ id, name, last4 }: OfKey) => {
  if (id === null) return 'Without a key (playground, MCP)';
  if (name === null) return last4 === null ? `A revoked key (${id})` : `A revoked key …${last4}`;
  return last4 === null ? name : `${name} …${last4}`;
};

export function KeyTable({ keys }: { keys: OfKey[] }) {
  if (keys.length === 0) return null;
  return (
    <Section title="By key">
      <DataTable<OfKey>
        label="Usage by key"
        rows={keys}
        rowKey={({ id }) => id ?? 'none'}
        columns={[{ title: 'Key', cell: keyName }, ...outcomes]}
      />
    </Section>
  );
}

const ms = (value: number | null) => (value === null ? '–' : formatMs(value));

export function DayTable({ days }: { days: Day[] }) {
  // The newest first, and only those on which something happened.
  const used = days.filter(({ ok, sandbox, failed }) => ok + sandbox + failed > 0).reverse();
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
          { title: 'Median', align: 'end', cell: ({ p50Ms }) => ms(p50Ms) },
          { title: '95 % within', align: 'end', cell: ({ p95Ms }) => ms(p95Ms) },
        ]}
      />
    </Section>
  );
}
