// Copies a text and says so, also to who cannot see it.
import { Button } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { Check, Copy } from 'lucide-react';
import { useEffect } from 'react';
import { notify } from './notices.tsx';

interface Props {
  text: string;
  /** What is copied, with the verb: `Copy the key`. */
  label: string;
  size?: 'xs' | 'sm';
}

export function CopyButton({ text, label, size = 'xs' }: Props) {
  const { copy, copied, error } = useClipboard({ timeout: 2_000 });
  useEffect(() => {
    if (error)
      notify(
        'The browser does not let this page copy. Select the text and copy it yourself.',
        'error',
      );
  }, [error]);
  return (
    <Button
      size={size}
      variant="default"
      leftSection={copied ? <Check size={14} aria-hidden /> : <Copy size={14} aria-hidden />}
      onClick={() => {
        copy(text);
      }}
    >
      <span aria-live="polite">{copied ? 'Copied' : label}</span>
    </Button>
  );
}
