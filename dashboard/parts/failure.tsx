// An error alert: the server's message, the request ID, and an optional retry button.
import { Alert, Button, Code, Text } from '@mantine/core';
import { CircleAlert } from 'lucide-react';
import { CallFailed } from '../session/api.ts';
import { formatTime } from './format.ts';
import { TextWithCode } from './text-with-code.tsx';

interface Props {
  error: Error;
  /** Absent where the user can repeat the action with its own button. */
  retry?: () => void;
  title?: string;
  /** The time (`Date.now()`) of the outdated data that the screen still shows. */
  dataUpdatedAt?: number;
}

export function Failure({ error, retry, title = 'Something went wrong', dataUpdatedAt }: Props) {
  const requestId = error instanceof CallFailed ? error.requestId : undefined;
  return (
    <Alert
      role="alert"
      color="red"
      variant="light"
      title={title}
      icon={<CircleAlert size={18} aria-hidden />}
      {...(dataUpdatedAt !== undefined && { mb: 'lg' })}
    >
      <Text size="sm">
        {error instanceof CallFailed ? (
          <TextWithCode>{error.message}</TextWithCode>
        ) : (
          'The page failed unexpectedly. Reload it and try again.'
        )}
      </Text>
      {dataUpdatedAt !== undefined && (
        <Text size="sm" mt={6}>
          Showing data from <b>{formatTime(new Date(dataUpdatedAt))}</b>.
        </Text>
      )}
      {requestId && (
        <Text size="xs" mt={6}>
          Request ID: <Code>{requestId}</Code>
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
