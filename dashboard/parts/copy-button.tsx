// Copies a text to the clipboard and announces it, also to screen readers.
import { Button } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { Check, Copy } from 'lucide-react';
import { useEffect } from 'react';
import { notify } from './notices.tsx';

interface Props {
  text: string;
  /** The label with its verb: `Copy key`. */
  label: string;
  size?: 'xs' | 'sm';
}

export function CopyButton({ text, label, size = 'xs' }: Props) {
  const { copy, copied, error } = useClipboard({ timeout: 2_000 });
  useEffect(() => {
    if (error)
      notify('Your browser blocked the copy. Select the text and copy it manually.', 'error');
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
