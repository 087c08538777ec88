// Above every screen of an account whose subscription needs somebody: what it means, and what to
// do.
import { Alert, Anchor } from '@mantine/core';
import { TriangleAlert } from 'lucide-react';
import { Link, useLocation } from 'wouter';
import type { Overview } from '../../api/console/contract/accounts.ts';
import { useOverview } from '../session/overview.ts';
import { useMay, useSession } from '../session/session.tsx';

const MESSAGES: Partial<Record<Overview['account']['state'], { title: string; text: string }>> = {
  past_due: {
    title: 'The last payment failed',
    text: 'Renders still work for now. Pay the open invoice before they stop.',
  },
  unpaid: {
    title: 'Renders are refused',
    text: 'An invoice is not paid. They work again within seconds after it is.',
  },
  canceled: {
    title: 'Renders are refused',
    text: 'The subscription has ended. Choose a plan to go on.',
  },
  paused: { title: 'Renders are refused', text: 'This account is suspended.' },
};

export function AccountBanner() {
  const { me } = useSession();
  const mayPay = useMay('billing.write');
  const { data } = useOverview({ refetchInterval: 60_000 });
  const message = data && MESSAGES[data.account.state];
  const [path] = useLocation();
  // That screen says it itself, with the ways out at hand.
  if (!message || path === '/billing') return null;
  const where =
    me.installation.billing !== 'stripe' || data.account.state === 'paused' ? (
      'Ask who runs this installation.'
    ) : mayPay ? (
      <Anchor component={Link} href="/billing" inherit c="inherit" fw={600} underline="always">
        Go to plan & billing
      </Anchor>
    ) : (
      'Ask an owner of the account.'
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
