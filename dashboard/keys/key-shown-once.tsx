// A new key in full, the only time that it can be seen.
import { Alert, Button, Group, Stack } from '@mantine/core';
import { Eye } from 'lucide-react';
import type { CreatedKeyView } from '../../api/console/contract/accounts.ts';
import { CodeBlock } from '../parts/code-block.tsx';
import { firstCall } from '../parts/first-call.ts';
import { useArrivalFocus } from '../parts/use-arrival-focus.ts';
import { useSession } from '../session/session.tsx';

interface Props {
  created: CreatedKeyView;
  onDone(): void;
}

export function KeyShownOnce({ created: { key, text }, onDone }: Props) {
  const { publicUrl } = useSession().me.installation;
  const arrived = useArrivalFocus<HTMLDivElement>();
  return (
    <Stack ref={arrived} tabIndex={-1} style={{ outline: 'none' }}>
      <Alert
        color="yellow"
        variant="light"
        icon={<Eye size={18} aria-hidden />}
        title="This key is shown only now"
        role="status"
      >
        Copy it to a safe place: nobody can show it again. Whoever has it renders in the name of
        this account.
      </Alert>
      <CodeBlock title={key.name} code={text} copyLabel="Copy the key" />
      <CodeBlock
        title="Try it with curl"
        code={firstCall(publicUrl, text)}
        copyLabel="Copy the call"
      />
      <Group justify="flex-end">
        <Button onClick={onDone}>I saved the key</Button>
      </Group>
    </Stack>
  );
}
