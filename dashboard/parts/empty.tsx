// An empty state: a title and a hint how to fill the list.
import { Paper, Stack, Text, ThemeIcon } from '@mantine/core';
import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';

interface Props {
  icon: LucideIcon;
  title: string;
  children?: ReactNode;
}

export function Empty({ icon: Icon, title, children }: Props) {
  return (
    <Paper withBorder p="xl">
      <Stack align="center" gap="xs" ta="center" maw={440} mx="auto">
        <ThemeIcon variant="light" size={44} radius="xl">
          <Icon size={22} aria-hidden />
        </ThemeIcon>
        <Text fw={600}>{title}</Text>
        {children && (
          <Text component="div" size="sm" c="dimmed">
            {children}
          </Text>
        )}
      </Stack>
    </Paper>
  );
}
