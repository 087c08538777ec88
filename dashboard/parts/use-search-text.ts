// The text of a server-side search: immediately for the input, debounced for the query.
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';

const PAUSE_MS = 250;

export function useSearchText() {
  const [text, setText] = useState('');
  const [query] = useDebouncedValue(text.trim(), PAUSE_MS);
  return { text, setText, query: query === '' ? undefined : query };
}
