// The subscription state as an alert with the next step. Nothing without a subscription.
import { Alert } from '@mantine/core';
import { CircleAlert, Info, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import type { BillingView } from '../../api/console/contract/accounts.ts';
import { formatDay, formatTime } from '../parts/format.ts';

interface Message {
  kind: 'info' | 'warning' | 'stopped';
  title: string;
  text: ReactNode;
}

const LOOKS = {
  info: { color: 'blue', icon: <Info size={18} aria-hidden /> },
  warning: { color: 'yellow', icon: <TriangleAlert size={18} aria-hidden /> },
  stopped: { color: 'red', icon: <CircleAlert size={18} aria-hidden /> },
};

function messageOf(billing: BillingView, mayPay: boolean): Message | undefined {
  const { mode, state, graceUntil, periodEnd, cancelAtPeriodEnd } = billing;
  if (mode === 'none') return undefined;
  const contact =
    mode === 'manual'
      ? 'Contact your administrator.'
      : 'Ask a member with the Owner or Billing role.';
  const pay =
    mode === 'stripe' && mayPay ? 'Click “Manage billing” to pay the open invoice.' : contact;
  const choose = mode === 'stripe' && mayPay ? 'Choose a plan below to resume rendering.' : contact;
  switch (state) {
    case 'past_due':
      return {
        kind: 'warning',
        title: 'Your subscription is past due',
        text: graceUntil
          ? `The last payment failed. Renders still work until ${formatTime(graceUntil)}. ${pay}`
          : `The last payment failed. Renders still work for now. ${pay}`,
      };
    case 'unpaid':
      return {
        kind: 'stopped',
        title: 'Your subscription is unpaid',
        text: `Renders are blocked until the open invoice is paid. ${pay}`,
      };
    case 'canceled':
      return {
        kind: 'stopped',
        title: 'Your subscription is canceled',
        text: `Renders are blocked. ${choose}`,
      };
    case 'paused':
      return {
        kind: 'stopped',
        title: 'This account is suspended',
        text: 'Renders are blocked. Contact your administrator.',
      };
    case 'trialing':
      return {
        kind: 'info',
        title: 'Your subscription is in a trial period',
        text: periodEnd ? `The trial ends on ${formatDay(periodEnd)}.` : 'The trial is free.',
      };
    default:
      if (!periodEnd) return undefined;
      return cancelAtPeriodEnd
        ? {
            kind: 'warning',
            title: `Your subscription ends on ${formatDay(periodEnd)}`,
            text: 'Renders work until then.',
          }
        : {
            kind: 'info',
            title: 'Your subscription is active',
            text: `It renews on ${formatDay(periodEnd)}.`,
          };
  }
}

export function BillingStatus({ billing, mayPay }: { billing: BillingView; mayPay: boolean }) {
  const message = messageOf(billing, mayPay);
  if (!message) return null;
  return (
    <Alert variant="light" title={message.title} {...LOOKS[message.kind]}>
      {message.text}
    </Alert>
  );
}
