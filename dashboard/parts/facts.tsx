// Names and values of one thing, as a list in columns.
import { Paper } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './facts.module.css';

/** A fact whose value is undefined or null is left out. */
export function FactList({ facts }: { facts: [name: string, value: ReactNode][] }) {
  const known = facts.filter(([, value]) => value !== undefined && value !== null && value !== '');
  return (
    <Paper withBorder p="md">
      <dl className={classes.list}>
        {known.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </Paper>
  );
}
