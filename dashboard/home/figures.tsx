// The figures at the top of the home screen: usage, running renders, success rate, duration.
import { Paper, Progress, SimpleGrid, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Overview } from '../../api/console/contract/accounts.ts';
import { formatCount, formatCountOf, formatMs } from '../parts/format.ts';
import classes from './figures.module.css';

interface FigureProps {
  title: string;
  value: ReactNode;
  /** Shown smaller after the value. */
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

const countNoun = (count: number) => (count === 1 ? 'render' : 'renders');
const successRate = ({ ok, failed }: Overview['lastDay']) =>
  `${((ok / (ok + failed)) * 100).toFixed(failed === 0 ? 0 : 1)}%`;

export function Figures({ account, usage, running, waiting, lastDay }: Overview) {
  const quota = account.monthlyQuota;
  const period = MONTH.format(new Date(`${usage.period}-01T00:00:00Z`));
  const finished = lastDay.ok + lastDay.failed;
  const used = quota === null ? 0 : percent(usage.count, quota);
  return (
    <SimpleGrid cols={{ base: 2, lg: 4 }} spacing="sm">
      <Figure
        title={`Usage in ${period}`}
        value={formatCount(usage.count)}
        of={quota === null ? countNoun(usage.count) : `of ${formatCountOf(quota, 'render')}`}
      >
        {quota !== null && (
          <Progress
            value={used}
            aria-label={`${Math.floor(used)}% of ${formatCount(quota)} renders used`}
            color={used >= 100 ? 'red.8' : used >= 80 ? 'yellow.7' : 'indigo'}
          />
        )}
        <Text size="xs" c="dimmed" mt={6}>
          {quota === null
            ? 'No monthly quota'
            : used >= 100
              ? 'Monthly quota exceeded. Renders continue.'
              : 'Monthly quota'}
        </Text>
      </Figure>
      <Figure
        title="Running now"
        value={formatCount(running)}
        of={`of ${formatCount(account.parallel)} concurrent`}
      >
        <Progress
          value={percent(running, account.parallel)}
          aria-label={`${running} of ${account.parallel} concurrent renders running`}
          color={running >= account.parallel ? 'yellow.7' : 'indigo'}
        />
        <Text size="xs" c="dimmed" mt={6}>
          {waiting === 0 ? 'No renders queued' : `${formatCountOf(waiting, 'render')} queued`}
        </Text>
      </Figure>
      <Figure
        title="Last 24 hours"
        value={formatCount(finished)}
        {...(finished > 0 && {
          of: countNoun(finished),
        })}
      >
        <Text size="xs" c="dimmed">
          {finished === 0
            ? 'No renders'
            : `${successRate(lastDay)} succeeded, ${formatCount(lastDay.failed)} failed`}
          {lastDay.rejected > 0 && `, ${formatCount(lastDay.rejected)} rejected`}
        </Text>
      </Figure>
      <Figure
        title="Render duration"
        value={lastDay.p50Ms === null ? '–' : formatMs(lastDay.p50Ms)}
        {...(lastDay.p50Ms !== null && { of: 'p50' })}
      >
        <Text size="xs" c="dimmed">
          {lastDay.p95Ms === null
            ? 'Too few renders for percentiles'
            : `p95 ${formatMs(lastDay.p95Ms)}`}
        </Text>
      </Figure>
    </SimpleGrid>
  );
}
