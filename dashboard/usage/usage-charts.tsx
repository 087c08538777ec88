// Charts of renders and render duration by day.
import { Paper, Stack, Text } from '@mantine/core';
import { useMemo } from 'react';
import type { Usage } from '../../api/console/contract/accounts.ts';
import { formatCount, formatMs } from '../parts/format.ts';
import { Section } from '../parts/section.tsx';
import Chart from './chart.tsx';

const COLORS = {
  ok: { light: '#4c6ef5', dark: '#748ffc' },
  sandbox: { light: '#868e96', dark: '#868e96' },
  failed: { light: '#e03131', dark: '#ff6b6b' },
  rejected: { light: '#f08c00', dark: '#ffc078' },
  p50: { light: '#0b7285', dark: '#3bc9db' },
  p95: { light: '#9c36b5', dark: '#da77f2' },
};

export default function UsageCharts({ days }: Pick<Usage, 'days'>) {
  const { names, counts, times } = useMemo(
    () => ({
      names: days.map(({ day }) => day),
      counts: [
        { label: 'Succeeded', color: COLORS.ok, values: days.map(({ ok }) => ok) },
        { label: 'Sandbox', color: COLORS.sandbox, values: days.map(({ sandbox }) => sandbox) },
        { label: 'Failed', color: COLORS.failed, values: days.map(({ failed }) => failed) },
        { label: 'Rejected', color: COLORS.rejected, values: days.map(({ rejected }) => rejected) },
      ],
      times: [
        { label: 'p50', color: COLORS.p50, values: days.map(({ p50Ms }) => p50Ms) },
        { label: 'p95', color: COLORS.p95, values: days.map(({ p95Ms }) => p95Ms) },
      ],
    }),
    [days],
  );
  return (
    <Stack gap="xl">
      <Section title="Renders per day">
        <Paper withBorder p="md">
          <Chart
            label="Renders per day"
            days={names}
            kind="bars"
            format={formatCount}
            series={counts}
          />
        </Paper>
      </Section>
      <Section title="Render duration">
        <Paper withBorder p="md">
          {days.some(({ p50Ms }) => p50Ms !== null) ? (
            <Chart
              label="Render duration per day, p50 and p95"
              days={names}
              kind="lines"
              format={formatMs}
              series={times}
            />
          ) : (
            <Text size="sm" c="dimmed">
              No day has enough successful renders for percentiles.
            </Text>
          )}
        </Paper>
      </Section>
    </Stack>
  );
}
