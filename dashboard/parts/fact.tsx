// A value with its name and a copy button, such as an ID.
import { Code, Group, Text } from '@mantine/core';
import { CopyButton } from './copy-button.tsx';

interface Props {
  name: string;
  value: string;
  /** The label of the copy button: `Copy account ID`. */
  copyLabel: string;
}

export function Fact({ name, value, copyLabel }: Props) {
  return (
    <Group justify="space-between" gap="sm">
      <div>
        <Text size="xs" c="dimmed">
          {name}
        </Text>
        <Code>{value}</Code>
      </div>
      <CopyButton text={value} label={copyLabel} />
    </Group>
  );
}
