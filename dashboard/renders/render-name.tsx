// The first cell of a list of renders: status, name, error and whether it is a sandbox render.
import { Badge, Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './render-table.module.css';

interface Props {
  badge: ReactNode;
  name: string;
  /** Its code or reason. */
  error?: ReactNode;
  sandbox: boolean;
}

export function RenderName({ badge, name, error, sandbox }: Props) {
  return (
    <Group gap="sm" wrap="nowrap" component="span">
      {badge}
      <span className={classes.what}>
        <span className={classes.source}>{name}</span>
        {error && (
          <Text span size="xs" c="dimmed" ff="monospace">
            {error}
          </Text>
        )}
      </span>
      {sandbox && (
        <Badge size="sm" radius="sm" variant="default" className={classes.mark}>
          Sandbox
        </Badge>
      )}
    </Group>
  );
}
