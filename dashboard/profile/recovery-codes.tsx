// Recovery codes, shown once: to be copied or saved before one goes on.
import { Alert, Button, Code, Group, SimpleGrid, Stack } from '@mantine/core';
import { Download } from 'lucide-react';
import { CopyButton } from '../parts/copy-button.tsx';
import { useArrivalFocus } from '../parts/use-arrival-focus.ts';

export function RecoveryCodeList({ codes, onDone }: { codes: string[]; onDone(): void }) {
  const text = codes.join('\n');
  const arrived = useArrivalFocus<HTMLDivElement>();
  return (
    <Stack ref={arrived} tabIndex={-1} style={{ outline: 'none' }}>
      <Alert color="yellow" variant="light" title="Keep these recovery codes">
        They are shown only now. Each lets you in once when your phone is not there. Keep them where
        you keep your passwords.
      </Alert>
      <SimpleGrid
        component="ul"
        cols={{ base: 1, xs: 2 }}
        spacing="xs"
        aria-label="Recovery codes"
        m={0}
        p={0}
      >
        {codes.map(code => (
          <li key={code} style={{ listStyle: 'none' }}>
            <Code>{code}</Code>
          </li>
        ))}
      </SimpleGrid>
      <Group gap="xs">
        <CopyButton text={text} label="Copy the codes" size="sm" />
        <Button
          component="a"
          href={`data:text/plain,${encodeURIComponent(`${text}\n`)}`}
          download="pressroom-recovery-codes.txt"
          variant="default"
          leftSection={<Download size={16} aria-hidden />}
        >
          Save as a file
        </Button>
        <Button onClick={onDone}>I have kept them</Button>
      </Group>
    </Stack>
  );
}
