// A bar chart of the renders per minute in the last half hour: succeeded below, failed on top.
// Rejected requests are only counted.
import { Group, Text, VisuallyHidden } from '@mantine/core';
import type { Live } from '../../api/console/contract/accounts.ts';
import { formatCount } from '../parts/format.ts';
import classes from './operator.module.css';

const HEIGHT = 60;
const STEP = 10;

export function Minutes({ minutes }: { minutes: Live['lastMinutes'] }) {
  const peak = Math.max(0, ...minutes.map(({ ok, failed }) => ok + failed));
  const ok = minutes.reduce((sum, minute) => sum + minute.ok, 0);
  const failed = minutes.reduce((sum, minute) => sum + minute.failed, 0);
  const rejected = minutes.reduce((sum, minute) => sum + minute.rejected, 0);
  const barHeight = (count: number) => (count / Math.max(peak, 1)) * HEIGHT;
  return (
    <figure style={{ margin: 0 }}>
      <svg
        className={classes.chart}
        viewBox={`0 0 ${minutes.length * STEP} ${HEIGHT + 1}`}
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        <line
          className={classes.axis}
          x1="0"
          x2={minutes.length * STEP}
          y1={HEIGHT + 0.5}
          y2={HEIGHT + 0.5}
        />
        {minutes.map((minute, index) => (
          <g key={minute.at}>
            <rect
              className={classes.ok}
              x={index * STEP + 1}
              width={STEP - 2}
              y={HEIGHT - barHeight(minute.ok)}
              height={barHeight(minute.ok)}
            />
            <rect
              className={classes.failed}
              x={index * STEP + 1}
              width={STEP - 2}
              y={HEIGHT - barHeight(minute.ok + minute.failed)}
              height={barHeight(minute.failed)}
            />
          </g>
        ))}
      </svg>
      <figcaption>
        <Group justify="space-between" gap="sm" mt={6}>
          <Text size="xs" c="dimmed">
            Last {minutes.length} minutes. Peak: {formatCount(peak)}/min.
          </Text>
          <Group gap="md">
            <Text size="xs">
              <span className={classes.key} data-kind="ok" />
              {formatCount(ok)} succeeded
            </Text>
            <Text size="xs">
              <span className={classes.key} data-kind="failed" />
              {formatCount(failed)} failed
            </Text>
            <Text size="xs">{formatCount(rejected)} rejected (not in the chart)</Text>
          </Group>
        </Group>
        <VisuallyHidden>{`Last minute: ${minutes.at(-1)?.ok ?? 0} succeeded, ${minutes.at(-1)?.failed ?? 0} failed, ${minutes.at(-1)?.rejected ?? 0} rejected.`}</VisuallyHidden>
      </figcaption>
    </figure>
  );
}
