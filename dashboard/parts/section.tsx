// An unframed section of a screen with its own heading.
import { Group, Title } from '@mantine/core';
import { type ReactNode, useId } from 'react';

interface Props {
  title: string;
  /** At the end of the heading's line, such as a link to the full list. */
  actions?: ReactNode;
  children: ReactNode;
}

export function Section({ title, actions, children }: Props) {
  const id = useId();
  return (
    <section aria-labelledby={id}>
      <Group justify="space-between" gap="sm" mb="sm">
        <Title order={2} size="h4" id={id}>
          {title}
        </Title>
        {actions}
      </Group>
      {children}
    </section>
  );
}
