// Short words at the edge of the page about what was just done, spoken by screen readers, gone after a while.
import { Notification } from '@mantine/core';
import { Check, CircleAlert } from 'lucide-react';
import { useSyncExternalStore } from 'react';
import classes from './notices.module.css';

export interface Notice {
  id: number;
  text: string;
  kind: 'done' | 'error';
}

/** An error is to be read, perhaps noted down. */
const SHOWN_MS = { done: 5_000, error: 15_000 };

let notices: Notice[] = [];
let count = 0;
const listeners = new Set<() => void>();
const set = (next: Notice[]) => {
  notices = next;
  for (const tell of listeners) tell();
};
const dismiss = (id: number) => set(notices.filter(notice => notice.id !== id));

/** Shows a sentence. */
export function notify(text: string, kind: Notice['kind'] = 'done'): void {
  count += 1;
  const id = count;
  set([...notices.slice(-3), { id, text, kind }]);
  setTimeout(() => dismiss(id), SHOWN_MS[kind]);
}

const subscribe = (tell: () => void) => {
  listeners.add(tell);
  return () => void listeners.delete(tell);
};

/** Where they are shown: once, in the shell. */
export function Notices() {
  const shown = useSyncExternalStore(subscribe, () => notices);
  return (
    <section aria-live="polite" aria-label="Notices" className={classes.region}>
      {shown.map(({ id, text, kind }) => (
        <Notification
          key={id}
          withBorder
          color={kind === 'done' ? 'teal' : 'red'}
          icon={kind === 'done' ? <Check size={16} aria-hidden /> : <CircleAlert size={16} aria-hidden />}
          onClose={() => dismiss(id)}
          closeButtonProps={{ 'aria-label': 'Dismiss' }}
        >
          {text}
        </Notification>
      ))}
    </section>
  );
}
