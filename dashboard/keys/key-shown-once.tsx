// Shows a new API key in full, the only time that it is available.
import { Alert, Button, Group, Stack } from '@mantine/core';
import { Eye } from 'lucide-react';
import type { CreatedKeyView } from '../../api/console/contract/accounts.ts';
import { CodeBlock } from '../parts/code-block.tsx';
import { firstCall, firstRead } from '../parts/first-call.ts';
import { useFocusOnMount } from '../parts/use-focus-on-mount.ts';
import { useSession } from '../session/session.tsx';

interface Props {
  created: CreatedKeyView;
  onDone(): void;
}

export function KeyShownOnce({ created: { key, text }, onDone }: Props) {
  const { publicUrl } = useSession().me.installation;
  const renders = key.scopes.includes('render');
  const arrived = useFocusOnMount<HTMLDivElement>();
  return (
    <Stack ref={arrived} tabIndex={-1} style={{ outline: 'none' }}>
      <Alert
        color="yellow"
        variant="light"
        icon={<Eye size={18} aria-hidden />}
        title="This key is shown only once"
        role="status"
      >
        Copy it now; you won’t be able to see it again. Anyone with this key can{' '}
        {renders ? 'render on your account' : 'read your usage'}.
      </Alert>
      <CodeBlock title={key.name} code={text} copyLabel="Copy key" />
      <CodeBlock
        title="Try it with curl"
        code={renders ? firstCall(publicUrl, text) : firstRead(publicUrl, text)}
        copyLabel="Copy request"
      />
      <Group justify="flex-end">
        <Button onClick={onDone}>I’ve saved my key</Button>
      </Group>
    </Stack>
  );
}
