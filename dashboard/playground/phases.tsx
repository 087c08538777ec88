// The phases of a render as a waterfall.
import { Text } from '@mantine/core';
import { formatMs } from '../parts/format.ts';
import classes from './playground.module.css';
import type { TimedPhase } from './server-timing.ts';

/** The smallest visible width of a bar, in percent. */
const MIN_WIDTH = 0.6;

export function Phases({ phases }: { phases: TimedPhase[] }) {
  const totalMs = Math.max(
    phases.reduce((sum, { durationMs }) => sum + durationMs, 0),
    0.1,
  );
  const part = (ms: number) => (ms / totalMs) * 100;
  return (
    <section aria-label="Phases">
      <Text component="h3" size="sm" fw={600} mb={6}>
        Phases
      </Text>
      <ul className={classes.phases}>
        {phases.map(({ name, startMs, durationMs }) => (
          <li key={name}>
            <span>{name}</span>
            <svg
              className={classes.bar}
              viewBox="0 0 100 1"
              preserveAspectRatio="none"
              aria-hidden="true"
            >
              <rect
                x={Math.min(part(startMs), 100 - MIN_WIDTH)}
                width={Math.max(part(durationMs), MIN_WIDTH)}
                height="1"
              />
            </svg>
            <span>{formatMs(durationMs)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
