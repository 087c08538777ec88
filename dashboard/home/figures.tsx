// The figures at the top of the home screen: usage against the quota, what runs now, the last day.
import { Paper, Progress, SimpleGrid, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Overview } from '../../api/console/contract/accounts.ts';
import { formatCount, formatMs } from '../parts/format.ts';
import classes from './figures.module.css';

interface FigureProps {
  title: string;
  value: ReactNode;
  /** Smaller, behind the value. */
  of?: string;
  children?: ReactNode;
}

function Figure({ title, value, of, children }: FigureProps) {
  return (
    <Paper withBorder p="md">
      <Text size="sm" c="dimmed">
        {title}
      </Text>
      <p className={classes.value}>
        {value} {of && <span className={classes.of}>{of}</span>}
      </p>
      {children}
    </Paper>
  );
}

const MONTH = new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric', timeZone: 'UTC' });
const percent = (part: number, whole: number) =>
  whole === 0 ? 0 : Math.min(100, (part / whole) * 100);

export function Figures({ account, usage, running, waiting, lastDay }: Overview) {
  const quota = account.monthlyQuota;
  const period = MONTH.format(new Date(`${usage.period}-01T00:00:00Z`));
  const finished = lastDay.ok + lastDay.failed;
  const used = quota === null ? 0 : percent(usage.count, quota);
  return (
    <SimpleGrid cols={{ base: 2, lg: 4 }} spacing="sm">
      <Figure
        title={`Renders in ${period}`}
        value={formatCount(usage.count)}
        {...(quota !== null && { of: `of ${formatCount(quota)}` })}
      >
        {quota !== null && (
          <Progress
            value={used}
            aria-label={`${Math.floor(used)} % of the plan’s ${formatCount(quota)} renders are used`}
            color={used >= 100 ? 'red.8' : used >= 80 ? 'yellow.7' : 'indigo'}
          />
        )}
        <Text size="xs" c="dimmed" mt={6}>
          {quota === null
            ? `Plan ${account.plan}: no monthly quota`
            : used >= 100
              ? `Plan ${account.plan}: the quota is used up; renders go on`
              : `Plan ${account.plan}`}
        </Text>
      </Figure>
      <Figure
        title="Running now"
        value={formatCount(running)}
        of={`of ${formatCount(account.parallel)} in parallel`}
      >
        <Progress
          value={percent(running, account.parallel)}
          aria-label={`${running} of ${account.parallel} places are in use`}
          color={running >= account.parallel ? 'yellow.7' : 'indigo'}
        />
        <Text size="xs" c="dimmed" mt={6}>
          {waiting === 0
            ? 'None waits for a worker'
            : `${formatCount(waiting)} of them ${waiting === 1 ? 'waits' : 'wait'} for a worker`}
        </Text>
      </Figure>
      <Figure
        title="Last 24 hours"
        value={formatCount(finished)}
        {...(finished > 0 && {
          of: `${((lastDay.ok / finished) * 100).toFixed(lastDay.failed === 0 ? 0 : 1)} % succeeded`,
        })}
      >
        <Text size="xs" c="dimmed">
          {formatCount(lastDay.ok)} OK, {formatCount(lastDay.failed)} failed
        </Text>
      </Figure>
      <Figure title="Median time" value={lastDay.p50Ms === null ? '–' : formatMs(lastDay.p50Ms)}>
        <Text size="xs" c="dimmed">
          {lastDay.p95Ms === null
            ? 'Of the last 24 hours'
            : `95 % within ${formatMs(lastDay.p95Ms)}`}
        </Text>
      </Figure>
    </SimpleGrid>
  );
}
