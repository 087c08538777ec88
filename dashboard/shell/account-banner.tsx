// The banner above every screen of an account that is past due, unpaid, canceled or suspended.
import { Alert, Anchor } from '@mantine/core';
import { TriangleAlert } from 'lucide-react';
import { Link, useLocation } from 'wouter';
import type { Overview } from '../../api/console/contract/accounts.ts';
import { useOverview } from '../session/overview.ts';
import { useMay, useSession } from '../session/session.tsx';

const MESSAGES: Partial<Record<Overview['account']['state'], { title: string; text: string }>> = {
  past_due: {
    title: 'Payment failed',
    text: 'Your subscription is past due. Renders work until the grace period ends.',
  },
  unpaid: { title: 'Renders are blocked', text: 'Your subscription is unpaid.' },
  canceled: { title: 'Renders are blocked', text: 'Your subscription is canceled.' },
  paused: { title: 'Renders are blocked', text: 'This account is suspended.' },
};

export function AccountBanner() {
  const { me } = useSession();
  const mayPay = useMay('billing.write');
  const { data } = useOverview({ refetchInterval: 60_000 });
  const message = data && MESSAGES[data.account.state];
  const [path] = useLocation();
  // The billing screen shows the same status with its actions.
  if (!message || path === '/billing') return null;
  const where =
    me.installation.billing !== 'stripe' || data.account.state === 'paused' ? (
      'Contact your administrator.'
    ) : mayPay ? (
      <Anchor component={Link} href="/billing" inherit c="inherit" fw={600} underline="always">
        Go to Plan & billing
      </Anchor>
    ) : (
      'Ask a member with the Owner or Billing role.'
    );
  return (
    <Alert
      role="status"
      mb="lg"
      color={data.account.state === 'past_due' ? 'yellow' : 'red'}
      title={message.title}
      icon={<TriangleAlert size={18} aria-hidden />}
    >
      {message.text} {where}
    </Alert>
  );
}
