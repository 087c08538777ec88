// A value to be taken along, such as an id: its name, itself, and a button that copies it.
import { Code, Group, Text } from '@mantine/core';
import { CopyButton } from './copy-button.tsx';

export function Fact({ name, value }: { name: string; value: string }) {
  return (
    <Group justify="space-between" gap="sm">
      <div>
        <Text size="xs" c="dimmed">
          {name}
        </Text>
        <Code>{value}</Code>
      </div>
      <CopyButton text={value} label={`Copy the ${name.charAt(0).toLowerCase()}${name.slice(1)}`} />
    </Group>
  );
}
