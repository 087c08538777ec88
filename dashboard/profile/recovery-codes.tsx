// Shows new recovery codes once, to copy or download.
import { Alert, Button, Code, Group, SimpleGrid, Stack } from '@mantine/core';
import { Download } from 'lucide-react';
import { CopyButton } from '../parts/copy-button.tsx';
import { useFocusOnMount } from '../parts/use-focus-on-mount.ts';

export function RecoveryCodeList({ codes, onDone }: { codes: string[]; onDone(): void }) {
  const text = codes.join('\n');
  const arrived = useFocusOnMount<HTMLDivElement>();
  return (
    <Stack ref={arrived} tabIndex={-1} style={{ outline: 'none' }}>
      <Alert color="yellow" variant="light" title="Save your recovery codes">
        Save these now; you won’t see them again. Each code works once if you lose your phone.
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
        <CopyButton text={text} label="Copy codes" size="sm" />
        <Button
          component="a"
          href={`data:text/plain,${encodeURIComponent(`${text}\n`)}`}
          download="pressroom-recovery-codes.txt"
          variant="default"
          leftSection={<Download size={16} aria-hidden />}
        >
          Download
        </Button>
        <Button onClick={onDone}>I’ve saved my recovery codes</Button>
      </Group>
    </Stack>
  );
}
