// The header of a screen: its only h1, a description and the main actions. Sets the document title.
import { Group, Text, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import classes from './page-header.module.css';

export const HEADING_ID = 'page-heading';

interface Props {
  title: string;
  /** Next to the title, such as a badge. */
  mark?: ReactNode;
  description?: ReactNode;
  actions?: ReactNode;
}

export function PageHeader({ title, mark, description, actions }: Props) {
  useEffect(() => {
    document.title = `${title} · Pressroom`;
  }, [title]);
  return (
    <Group component="header" justify="space-between" align="flex-start" gap="sm" mb="lg">
      <div className={classes.text}>
        <Group gap="sm">
          <Title order={1} id={HEADING_ID} tabIndex={-1} className={classes.title}>
            {title}
          </Title>
          {mark}
        </Group>
        {description && (
          <Text c="dimmed" size="sm" mt={4}>
            {description}
          </Text>
        )}
      </div>
      {actions && <Group gap="xs">{actions}</Group>}
    </Group>
  );
}
