// A sentence as the server writes it: what stands in backticks is a name, and looks like one.
import { Code } from '@mantine/core';

export function Words({ children }: { children: string }) {
  return children.split(/`([^`]+)`/).map((part, index) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: parts of one fixed sentence
    index % 2 === 1 ? <Code key={index}>{part}</Code> : part,
  );
}
