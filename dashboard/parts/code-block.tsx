// A block of code with a copy button.
import { Group, Paper, Text } from '@mantine/core';
import classes from './code-block.module.css';
import { CopyButton } from './copy-button.tsx';

interface Props {
  /** Shown above the code: `curl`. */
  title: string;
  code: string;
  /** The label of the copy button. */
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
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach what scrolls */}
      <section className={classes.code} tabIndex={0} aria-label={title}>
        <pre>{code}</pre>
      </section>
    </Paper>
  );
}
