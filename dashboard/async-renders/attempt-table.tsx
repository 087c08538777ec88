// The attempts of an asynchronous render, as a table.
import { Group } from '@mantine/core';
import type { AsyncAttempt, AsyncRenderDetail } from '../../api/console/contract/async-renders.ts';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { formatMs } from '../parts/format.ts';
import { Section } from '../parts/section.tsx';
import { When } from '../parts/when.tsx';
import { attemptsMs } from './async-render.ts';
import { StatusBadge } from './status-badge.tsx';

type Numbered = AsyncAttempt & { number: number };

const COLUMNS: Column<Numbered>[] = [
  {
    title: 'Attempt',
    cell: ({ number, outcome }) => (
      <Group component="span" gap="xs" wrap="nowrap">
        {number} <StatusBadge status={outcome} />
      </Group>
    ),
  },
  { title: 'Started', cell: ({ started_at }) => <When at={started_at} exact /> },
  { title: 'Ended', cell: ({ ended_at }) => (ended_at ? <When at={ended_at} exact /> : '–') },
  {
    title: 'Duration',
    align: 'end',
    cell: attempt => {
      const ms = attemptsMs(attempt);
      return ms === null ? '–' : formatMs(ms);
    },
  },
  { title: 'Error', cell: ({ error }) => (error ? (error.reason ?? error.code) : '–') },
];

export function AttemptTable({ attempts }: { attempts: AsyncRenderDetail['attempt_log'] }) {
  if (attempts.length === 0) return null;
  return (
    <Section title="Attempts">
      <DataTable
        label="Attempts"
        columns={COLUMNS}
        rows={attempts.map((attempt, index) => ({ ...attempt, number: index + 1 }))}
        rowKey={({ number }) => String(number)}
      />
    </Section>
  );
}
