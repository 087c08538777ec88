// The outcome of a render as a colored badge.
import { Badge } from '@mantine/core';
import type { RenderSummary } from '../../api/console/contract/accounts.ts';
import classes from './outcome-badge.module.css';

const LOOKS = {
  ok: { color: 'teal', text: 'Succeeded' },
  error: { color: 'red', text: 'Failed' },
  client_closed: { color: 'gray', text: 'Canceled' },
} as const;

export function OutcomeBadge({ outcome }: { outcome: RenderSummary['outcome'] }) {
  const { color, text } = LOOKS[outcome];
  return (
    <Badge color={color} variant="light" size="sm" radius="sm" className={classes.badge} tt="none">
      {text}
    </Badge>
  );
}
