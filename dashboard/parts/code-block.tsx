// A few lines of code or text to be copied.
import { Group, Paper, Text } from '@mantine/core';
import classes from './code-block.module.css';
import { CopyButton } from './copy-button.tsx';

interface Props {
  /** What it is, shown above it: `curl`. */
  title: string;
  code: string;
  /** The label of its button. */
  copyLabel?: string;
}

export function CodeBlock({ title, code, copyLabel = 'Copy' }: Props) {
  return (
    <Paper withBorder className={classes.frame}>
      <Group justify="space-between" className={classes.head}>
        <Text size="xs" fw={600} c="dimmed">
          {title}
        </Text>
        <CopyButton text={code} label={copyLabel} />
      </Group>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by the keyboard */}
      <section className={classes.code} tabIndex={0} aria-label={title}>
        <pre>{code}</pre>
      </section>
    </Paper>
  );
}
