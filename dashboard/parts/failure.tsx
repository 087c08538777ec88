// What went wrong, in the server's own sentence, with the id that finds it in the log, and a way to try again.
import { Alert, Button, Code, Text } from '@mantine/core';
import { CircleAlert } from 'lucide-react';
import { CallFailed } from '../api.ts';
import { Words } from './words.tsx';

interface Props {
  error: Error;
  /** Absent where trying again means pressing the same button again. */
  retry?: () => void;
  title?: string;
}

export function Failure({ error, retry, title = 'This did not work' }: Props) {
  const requestId = error instanceof CallFailed ? error.requestId : undefined;
  return (
    <Alert role="alert" color="red" variant="light" title={title} icon={<CircleAlert size={18} aria-hidden />}>
      <Text size="sm">
        {error instanceof CallFailed ? <Words>{error.message}</Words> : 'Something in this page failed. Load it again.'}
      </Text>
      {requestId && (
        <Text size="xs" mt={6}>
          Request id: <Code>{requestId}</Code>
        </Text>
      )}
      {retry && (
        <Button size="xs" variant="default" mt="sm" onClick={retry}>
          Try again
        </Button>
      )}
    </Alert>
  );
}
