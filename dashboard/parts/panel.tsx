// A framed section of a screen with its own heading.
import { Paper, Text, Title } from '@mantine/core';
import { type ReactNode, useId } from 'react';

interface Props {
  title: string;
  description?: ReactNode;
  children: ReactNode;
}

export function Panel({ title, description, children }: Props) {
  const id = useId();
  return (
    <Paper component="section" withBorder p="lg" aria-labelledby={id}>
      <Title order={2} size="h4" id={id}>
        {title}
      </Title>
      {description && (
        <Text component="div" size="sm" c="dimmed" mt={4}>
          {description}
        </Text>
      )}
      <Text component="div" size="sm" mt="md">
        {children}
      </Text>
    </Paper>
  );
}
