// The renders of the last half hour as bars, a minute each: what succeeded below, what failed on
// top of it.
import { Group, Text, VisuallyHidden } from '@mantine/core';
import type { Live } from '../../api/console/contract/accounts.ts';
import { formatCount } from '../parts/format.ts';
import classes from './operator.module.css';

const HEIGHT = 60;
const STEP = 10;

export function Minutes({ minutes }: { minutes: Live['lastMinutes'] }) {
  const most = Math.max(1, ...minutes.map(({ ok, failed }) => ok + failed));
  const ok = minutes.reduce((sum, minute) => sum + minute.ok, 0);
  const failed = minutes.reduce((sum, minute) => sum + minute.failed, 0);
  const tall = (count: number) => (count / most) * HEIGHT;
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
              y={HEIGHT - tall(minute.ok)}
              height={tall(minute.ok)}
            />
            <rect
              className={classes.failed}
              x={index * STEP + 1}
              width={STEP - 2}
              y={HEIGHT - tall(minute.ok + minute.failed)}
              height={tall(minute.failed)}
            />
          </g>
        ))}
      </svg>
      <figcaption>
        <Group justify="space-between" gap="sm" mt={6}>
          <Text size="xs" c="dimmed">
            The last {minutes.length} minutes; the tallest bar is {formatCount(most)} a minute
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
          </Group>
        </Group>
        <VisuallyHidden>{`The newest minute: ${minutes.at(-1)?.ok ?? 0} succeeded, ${minutes.at(-1)?.failed ?? 0} failed.`}</VisuallyHidden>
      </figcaption>
    </figure>
  );
}
