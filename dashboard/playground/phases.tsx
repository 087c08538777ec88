// Where the time of a render went: a list of its phases, each with a bar at its place in time.
import { Text } from '@mantine/core';
import { formatMs } from '../parts/format.ts';
import classes from './playground.module.css';
import type { TimedPhase } from './server-timing.ts';

/** Below this part of the whole a bar could not be seen. */
const THINNEST = 0.6;

export function Phases({ phases }: { phases: TimedPhase[] }) {
  const totalMs = Math.max(
    phases.reduce((sum, { durationMs }) => sum + durationMs, 0),
    0.1,
  );
  const part = (ms: number) => (ms / totalMs) * 100;
  return (
    <section aria-label="Where the time went">
      <Text component="h3" size="sm" fw={600} mb={6}>
        Where the time went
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
                x={Math.min(part(startMs), 100 - THINNEST)}
                width={Math.max(part(durationMs), THINNEST)}
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
