// The way of a new account to its first render: a key, a call, the playground. Goes away when there
// is a render.
import { Button, Group, Paper, Text, Title } from '@mantine/core';
import { FlaskConical, KeyRound } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { CreateKeyDialog } from '../keys/create-key-dialog.tsx';
import { CodeBlock } from '../parts/code-block.tsx';
import { firstCall, KEY_PLACE } from '../parts/first-call.ts';
import { formatCountOf } from '../parts/format.ts';
import { useMay, useSession } from '../session/session.tsx';
import classes from './quick-start.module.css';

interface Props {
  keys: number;
  /** Whether its dialog is open. */
  creating: boolean;
  setCreating(creating: boolean): void;
}

export function QuickStart({ keys, creating, setCreating }: Props) {
  const { publicUrl } = useSession().me.installation;
  const mayMakeKeys = useMay('keys.write');
  const mayPlay = useMay('playground.render');
  // Only here and only now: it is shown once, and put into the call below.
  const [key, setKey] = useState<string>();
  return (
    <Paper withBorder p="lg" component="section" aria-labelledby="quick-start">
      <Title order={2} id="quick-start" size="1.1rem">
        Make your first PDF
      </Title>
      <ol className={classes.steps}>
        <li>
          <Text fw={600}>Create an API key</Text>
          <Text size="sm" c="dimmed" mb="xs">
            {keys === 0
              ? 'Programs call the API with it.'
              : `This account has ${formatCountOf(keys, 'key')}. Take one of them, or make another.`}
          </Text>
          {mayMakeKeys ? (
            <Button
              size="xs"
              variant={keys === 0 ? 'filled' : 'default'}
              leftSection={<KeyRound size={14} aria-hidden />}
              onClick={() => setCreating(true)}
            >
              Create a key
            </Button>
          ) : (
            <Text size="sm">
              Your role makes no keys: ask an owner, admin or developer of the account for one.
            </Text>
          )}
        </li>
        <li>
          <Text fw={600}>Call the API</Text>
          <Text size="sm" c="dimmed" mb="xs">
            {key
              ? 'Your new key is in it already. It goes away when you leave this screen.'
              : `Put your key in place of ${KEY_PLACE}.`}
          </Text>
          <CodeBlock title="curl" code={firstCall(publicUrl, key)} copyLabel="Copy the call" />
        </li>
        <li>
          <Text fw={600}>Try the options</Text>
          <Text size="sm" c="dimmed" mb="xs">
            The playground renders without a key and shows the PDF beside its options.
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
                Open the playground
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
