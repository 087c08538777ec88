// A row of labeled figures.
import { Paper, SimpleGrid } from '@mantine/core';
import classes from './operator.module.css';

export function FigureList({ figures }: { figures: [name: string, value: string][] }) {
  return (
    <Paper withBorder p="md">
      <SimpleGrid component="dl" cols={{ base: 2, xs: 3, md: figures.length }} m={0}>
        {figures.map(([name, value]) => (
          <div key={name} className={classes.figure}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </SimpleGrid>
    </Paper>
  );
}
