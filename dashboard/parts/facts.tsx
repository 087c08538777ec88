// The properties of one item as a description list in columns.
import { Paper } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './facts.module.css';

/** Omits facts whose value is undefined, null or empty. */
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
