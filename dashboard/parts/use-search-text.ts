// What is typed into a search that the server answers: the text at once, and the text to ask for
// after a pause in typing.
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';

const PAUSE_MS = 250;

export function useSearchText() {
  const [text, setText] = useState('');
  const [asked] = useDebouncedValue(text.trim(), PAUSE_MS);
  return { text, setText, asked: asked === '' ? undefined : asked };
}
