// The status of subscription and payments, shown when there is something to know or to do.
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
  const ask =
    mode === 'manual'
      ? 'Ask who runs this installation.'
      : 'Ask an owner of the account, or somebody with the role Billing.';
  const pay =
    mode === 'stripe' && mayPay
      ? 'Open “Invoices and payment” above and pay the open invoice.'
      : ask;
  const choose = mode === 'stripe' && mayPay ? 'Choose a plan below.' : ask;
  switch (state) {
    case 'past_due':
      return {
        kind: 'warning',
        title: 'The last payment failed',
        text: `Renders still work${graceUntil ? ` until ${formatTime(graceUntil)}` : ' for now'}. ${pay}`,
      };
    case 'unpaid':
      return {
        kind: 'stopped',
        title: 'Renders are refused: an invoice is not paid',
        text: `${pay} Renders work again within seconds.`,
      };
    case 'canceled':
      return {
        kind: 'stopped',
        title: 'Renders are refused: the subscription has ended',
        text: choose,
      };
    case 'paused':
      return {
        kind: 'stopped',
        title: 'Renders are refused: the account is suspended',
        text: 'Ask who runs this installation.',
      };
    case 'trialing':
      return {
        kind: 'info',
        title: 'You are trying this plan',
        text: periodEnd ? `The trial ends on ${formatDay(periodEnd)}.` : 'It costs nothing yet.',
      };
    default:
      if (!periodEnd) return undefined;
      return cancelAtPeriodEnd
        ? {
            kind: 'warning',
            title: `The subscription ends on ${formatDay(periodEnd)}`,
            text: 'Until then everything works as it does now.',
          }
        : {
            kind: 'info',
            title: 'Everything is paid',
            text: `The next payment is due on ${formatDay(periodEnd)}.`,
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
