// A user in a table: the name with its badges, and the email address below it.
import { Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';

interface Props {
  name: string;
  email: string;
  /** Badges behind the name. */
  children?: ReactNode;
}

export function UserCell({ name, email, children }: Props) {
  return (
    <>
      <Group gap={6}>
        <span>{name}</span>
        {children}
      </Group>
      <Text size="xs" c="dimmed" fw={400}>
        {email}
      </Text>
    </>
  );
}
