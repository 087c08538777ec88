// The quick start of a new account: create a key, send a request, open the playground.
import { Button, Group, Paper, Text, Title } from '@mantine/core';
import { FlaskConical, KeyRound } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { CreateKeyDialog } from '../keys/create-key-dialog.tsx';
import { CodeBlock } from '../parts/code-block.tsx';
import { firstCall, KEY_PLACEHOLDER } from '../parts/first-call.ts';
import { formatCountOf } from '../parts/format.ts';
import { useMay, useSession } from '../session/session.tsx';
import classes from './quick-start.module.css';

interface Props {
  keys: number;
  /** Whether the dialog that creates a key is open. */
  creating: boolean;
  setCreating(creating: boolean): void;
}

export function QuickStart({ keys, creating, setCreating }: Props) {
  const { publicUrl } = useSession().me.installation;
  const mayCreateKeys = useMay('keys.write');
  const mayPlay = useMay('playground.render');
  // Held in memory only, to fill in the request below.
  const [key, setKey] = useState<string>();
  return (
    <Paper withBorder p="lg" component="section" aria-labelledby="quick-start">
      <Title order={2} id="quick-start" size="1.1rem">
        Render your first PDF
      </Title>
      <ol className={classes.steps}>
        <li>
          <Text fw={600}>Create an API key</Text>
          <Text size="sm" c="dimmed" mb="xs">
            {keys === 0
              ? 'API keys authenticate your requests.'
              : `This account has ${formatCountOf(keys, 'API key')}. Use an existing key or create another.`}
          </Text>
          {mayCreateKeys ? (
            <Button
              size="xs"
              variant={keys === 0 ? 'filled' : 'default'}
              leftSection={<KeyRound size={14} aria-hidden />}
              onClick={() => setCreating(true)}
            >
              Create API key
            </Button>
          ) : (
            <Text size="sm">
              Your role cannot create API keys. Ask an owner, admin or developer of the account.
            </Text>
          )}
        </li>
        <li>
          <Text fw={600}>Send a request</Text>
          <Text size="sm" c="dimmed" mb="xs">
            {key
              ? 'The snippet includes your new key. It disappears when you leave this page.'
              : `Replace ${KEY_PLACEHOLDER} with your key.`}
          </Text>
          <CodeBlock title="curl" code={firstCall(publicUrl, key)} copyLabel="Copy request" />
        </li>
        <li>
          <Text fw={600}>Try the options</Text>
          <Text size="sm" c="dimmed" mb="xs">
            The playground renders without an API key and shows the PDF next to the options.
          </Text>
          <Group>
            {mayPlay && (
              <Button
                size="xs"
                variant="default"
                component={Link}
                href="/playground"
                leftSection={<FlaskConical size={14} aria-hidden />}
              >
                Open playground
              </Button>
            )}
          </Group>
        </li>
      </ol>
      <CreateKeyDialog
        opened={creating}
        onClose={() => setCreating(false)}
        onCreated={({ text }) => setKey(text)}
      />
    </Paper>
  );
}
