// Labels, colors and descriptions of the subscription states.
import { Badge } from '@mantine/core';
import type { OperatorAccount } from '../../api/console/contract/accounts.ts';

export type OperatorAccountState = OperatorAccount['state'];

export const STATES: {
  state: OperatorAccountState;
  label: string;
  color: string;
  description: string;
}[] = [
  { state: 'active', label: 'Active', color: 'teal', description: 'Renders work.' },
  { state: 'trialing', label: 'Trialing', color: 'blue', description: 'Renders work.' },
  {
    state: 'past_due',
    label: 'Past due',
    color: 'yellow',
    description: 'Renders work until the grace period ends.',
  },
  {
    state: 'unpaid',
    label: 'Unpaid',
    color: 'red',
    description: 'Renders are blocked until the open invoice is paid.',
  },
  { state: 'canceled', label: 'Canceled', color: 'gray', description: 'Renders are blocked.' },
  {
    state: 'paused',
    label: 'Suspended',
    color: 'red',
    description: 'Renders are blocked until you reactivate the account.',
  },
];

export function StateBadge({ state }: { state: OperatorAccountState }) {
  const { label, color } = STATES.find(each => each.state === state)!;
  return (
    <Badge variant="light" color={color}>
      {label}
    </Badge>
  );
}
