// The error of a render: code, reason, message and a hint.
import { Alert, Text } from '@mantine/core';
import { CircleAlert } from 'lucide-react';
import type { RenderDetail } from '../../api/console/contract/accounts.ts';
import { TextWithCode } from '../parts/text-with-code.tsx';
import { hintFor } from './hints.ts';

export function RenderError({
  code,
  reason,
  message,
}: Pick<RenderDetail, 'code' | 'reason' | 'message'>) {
  const hint = hintFor(code, reason);
  return (
    <Alert
      color="red"
      variant="light"
      mb="md"
      icon={<CircleAlert size={18} aria-hidden />}
      title={<code>{reason ? `${code}: ${reason}` : code}</code>}
    >
      {message && (
        <Text size="sm">
          <TextWithCode>{message}</TextWithCode>
        </Text>
      )}
      {hint && (
        <Text size="sm" mt={message ? 6 : 0}>
          <TextWithCode>{hint}</TextWithCode>
        </Text>
      )}
    </Alert>
  );
}
