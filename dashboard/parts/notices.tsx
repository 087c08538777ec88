// Short messages at the edge of the page about what was just done, announced by screen readers,
// gone after a while.
import { Notifications, notifications } from '@mantine/notifications';
import { Check, CircleAlert } from 'lucide-react';

/** An error takes longer to read, and may be copied. */
const SHOWN_MS = { done: 5_000, error: 15_000 };

/** Shows a sentence. */
export function notify(message: string, kind: keyof typeof SHOWN_MS = 'done'): void {
  notifications.show({
    message,
    autoClose: SHOWN_MS[kind],
    withBorder: true,
    color: kind === 'done' ? 'teal' : 'red',
    icon: kind === 'done' ? <Check size={16} aria-hidden /> : <CircleAlert size={16} aria-hidden />,
    closeButtonProps: { 'aria-label': 'Dismiss' },
  });
}

/** Where they are shown: once, in the shell. */
export const Notices = () => (
  <section aria-live="polite" aria-label="Notices">
    <Notifications withinPortal={false} limit={4} containerWidth="24rem" />
  </section>
);
