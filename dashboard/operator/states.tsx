// Labels and colours of the states of a subscription.
import { Badge } from '@mantine/core';
import type { OperatorAccount } from '../../api/console/contract/accounts.ts';

export type OperatorAccountState = OperatorAccount['state'];

export const STATES: {
  state: OperatorAccountState;
  label: string;
  color: string;
  means: string;
}[] = [
  { state: 'active', label: 'Active', color: 'teal', means: 'Renders work.' },
  { state: 'trialing', label: 'Trial', color: 'blue', means: 'Renders work.' },
  {
    state: 'past_due',
    label: 'Past due',
    color: 'yellow',
    means: 'Renders work until the grace ends.',
  },
  {
    state: 'unpaid',
    label: 'Unpaid',
    color: 'red',
    means: 'Renders are refused until it is paid.',
  },
  { state: 'canceled', label: 'Cancelled', color: 'gray', means: 'Renders are refused.' },
  {
    state: 'paused',
    label: 'Suspended',
    color: 'red',
    means: 'Renders are refused until it is lifted.',
  },
];

export function StateBadge({ state }: { state: OperatorAccountState }) {
  const { label, color } = STATES.find(each => each.state === state)!;
  return (
    <Badge variant="light" color={color} tt="none">
      {label}
    </Badge>
  );
}
