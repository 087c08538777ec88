// Shows the parts of a server message that are in backticks as code.
import { Code } from '@mantine/core';

export function TextWithCode({ children }: { children: string }) {
  return children.split(/`([^`]+)`/).map((part, index) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: parts of one fixed sentence
    index % 2 === 1 ? <Code key={index}>{part}</Code> : part,
  );
}
