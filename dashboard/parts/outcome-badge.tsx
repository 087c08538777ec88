// The outcome of a render as a colored badge.
import { Badge } from '@mantine/core';
import type { RenderSummary } from '../../api/console/contract/accounts.ts';
import classes from './outcome-badge.module.css';

const LOOKS = {
  ok: { color: 'teal', text: 'Succeeded' },
  error: { color: 'red', text: 'Failed' },
  rejected: { color: 'orange', text: 'Rejected' },
  client_closed: { color: 'gray', text: 'Canceled' },
} as const;

export function OutcomeBadge({ outcome, rejected }: Pick<RenderSummary, 'outcome' | 'rejected'>) {
  const { color, text } = LOOKS[rejected ? 'rejected' : outcome];
  return (
    <Badge color={color} variant="light" size="sm" radius="sm" className={classes.badge}>
      {text}
    </Badge>
  );
}
