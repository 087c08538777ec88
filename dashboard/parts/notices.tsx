// Toast notices at the edge of the page. Screen readers announce them.
import { Notifications, notifications } from '@mantine/notifications';
import { Check, CircleAlert } from 'lucide-react';

/** An error takes longer to read, and may be copied. */
const SHOWN_MS = { done: 5_000, error: 15_000 };

/** Shows a notice. */
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

/** The container of all notices. The shell renders it once. */
export const Notices = () => (
  <section aria-live="polite" aria-label="Notices">
    <Notifications withinPortal={false} limit={4} containerWidth="24rem" />
  </section>
);
