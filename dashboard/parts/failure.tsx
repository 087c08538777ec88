// What went wrong, in the server's own sentence, with the id that finds it in the log, and a way to
// try again.
import { Alert, Button, Code, Text } from '@mantine/core';
import { CircleAlert } from 'lucide-react';
import { CallFailed } from '../session/api.ts';
import { formatTime } from './format.ts';
import { TextWithCode } from './text-with-code.tsx';

interface Props {
  error: Error;
  /** Absent where trying again means pressing the same button again. */
  retry?: () => void;
  title?: string;
  /**
   * When what is still shown below it was read (a time of `Date.now()`), so that nobody takes it
   * for how things are now.
   */
  shownOf?: number;
}

export function Failure({ error, retry, title = 'This did not work', shownOf }: Props) {
  const requestId = error instanceof CallFailed ? error.requestId : undefined;
  return (
    <Alert
      role="alert"
      color="red"
      variant="light"
      title={title}
      icon={<CircleAlert size={18} aria-hidden />}
      {...(shownOf !== undefined && { mb: 'lg' })}
    >
      <Text size="sm">
        {error instanceof CallFailed ? (
          <TextWithCode>{error.message}</TextWithCode>
        ) : (
          'Something in this page failed. Load it again.'
        )}
      </Text>
      {shownOf !== undefined && (
        <Text size="sm" mt={6}>
          What is shown below is of <b>{formatTime(new Date(shownOf))}</b>, not of now.
        </Text>
      )}
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
