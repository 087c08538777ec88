// The usage of the account by day and by API key, as charts, tables and CSV.
import {
  Button,
  Group,
  Paper,
  SegmentedControl,
  SimpleGrid,
  Skeleton,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { keepPreviousData } from '@tanstack/react-query';
import { ChartColumn, Download } from 'lucide-react';
import { lazy, Suspense } from 'react';
import type { Usage } from '../../api/console/contract/accounts.ts';
import { Empty } from '../parts/empty.tsx';
import { formatBytes, formatCount, formatDay } from '../parts/format.ts';
import { PageHeader } from '../parts/page-header.tsx';
import { QueryState } from '../parts/query-state.tsx';
import { queryOf } from '../session/api.ts';
import { useAccount } from '../session/session.tsx';
import { useGet } from '../session/use-get.ts';
import { type Choice, useRange } from './range.ts';
import { DayTable, hasRenders, KeyTable } from './usage-tables.tsx';

const UsageCharts = lazy(() => import('./usage-charts.tsx'));

export default function UsageScreen() {
  const { id } = useAccount();
  const { choice, range, choose, setRange } = useRange();
  const query = queryOf(range);
  const usage = useGet<Usage>(['usage', id, range], `/accounts/${id}/usage${query}`, {
    // Shows the previous range while the next one loads.
    placeholderData: keepPreviousData,
  });
  return (
    <>
      <PageHeader
        title="Usage"
        description={`${formatDay(range.from)} to ${formatDay(range.to)} (UTC)`}
        actions={
          <Button
            size="xs"
            variant="default"
            component="a"
            href={`/console/v1/accounts/${id}/usage.csv${query}`}
            download={`usage-${range.from}-${range.to}.csv`}
            leftSection={<Download size={14} aria-hidden />}
          >
            Download CSV
          </Button>
        }
      />
      <Group gap="sm" align="flex-end" mb="lg">
        <SegmentedControl
          size="xs"
          aria-label="Date range"
          value={choice}
          onChange={value => choose(value as Choice)}
          data={[
            { value: '7', label: '7 days' },
            { value: '30', label: '30 days' },
            { value: '90', label: '90 days' },
            { value: 'custom', label: 'Custom' },
          ]}
        />
        {choice === 'custom' && (
          <>
            <TextInput
              size="xs"
              type="date"
              label="From"
              value={range.from}
              max={range.to}
              onChange={event => setRange({ ...range, from: event.currentTarget.value })}
            />
            <TextInput
              size="xs"
              type="date"
              label="To"
              value={range.to}
              min={range.from}
              onChange={event => setRange({ ...range, to: event.currentTarget.value })}
            />
          </>
        )}
      </Group>
      <QueryState query={usage} title="Could not load usage">
        <ChartsLoading />
      </QueryState>
      {usage.data && !usage.error && <Figures usage={usage.data} />}
    </>
  );
}

const sum = (days: Usage['days'], of: (day: Usage['days'][number]) => number) =>
  days.reduce((total, day) => total + of(day), 0);

function Figures({ usage: { days, keys } }: { usage: Usage }) {
  const used = days.some(hasRenders);
  if (!used)
    return (
      <Empty icon={ChartColumn} title="No renders in this period">
        Choose another date range.
      </Empty>
    );
  return (
    <Stack gap="xl">
      <SimpleGrid cols={{ base: 2, sm: 5 }} spacing="sm">
        {(
          [
            ['Succeeded', formatCount(sum(days, ({ ok }) => ok))],
            ['Sandbox', formatCount(sum(days, ({ sandbox }) => sandbox))],
            ['Failed', formatCount(sum(days, ({ failed }) => failed))],
            ['Rejected', formatCount(sum(days, ({ rejected }) => rejected))],
            ['PDF size', formatBytes(sum(days, ({ bytes }) => bytes))],
          ] as const
        ).map(([name, value]) => (
          <Paper key={name} withBorder p="sm">
            <Text size="xs" c="dimmed">
              {name}
            </Text>
            <Text fw={600} size="lg" className="figures">
              {value}
            </Text>
          </Paper>
        ))}
      </SimpleGrid>
      <Suspense fallback={<ChartsLoading />}>
        <UsageCharts days={days} />
      </Suspense>
      <KeyTable keys={keys} />
      <DayTable days={days} />
    </Stack>
  );
}

function ChartsLoading() {
  return (
    <Stack gap="xl">
      <Skeleton height={350} />
      <Skeleton height={350} />
    </Stack>
  );
}
