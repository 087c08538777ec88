// What the page wrote to its console while it was rendered.
import { Paper, Text } from '@mantine/core';
import type { RenderDetail } from '../../api/console/contract/accounts.ts';
import classes from './console-lines.module.css';

export function ConsoleLines({ lines }: { lines: RenderDetail['console'] }) {
  if (lines.length === 0)
    return (
      <Text size="sm" c="dimmed">
        The page wrote nothing to it.
      </Text>
    );
  return (
    <Paper withBorder>
      <ol className={classes.lines}>
        {lines.map(({ level, text }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a log that does not change
          <li key={index} data-level={level}>
            <span className={classes.level}>{level}</span>
            <span className={classes.text}>{text}</span>
          </li>
        ))}
      </ol>
    </Paper>
  );
}
