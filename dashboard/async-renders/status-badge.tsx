// The status of an asynchronous render as a colored badge.
import { Badge } from '@mantine/core';
import type { AsyncRenderView } from '../../api/console/contract/async-renders.ts';
import classes from '../parts/outcome-badge.module.css';

type AsyncStatus = AsyncRenderView['status'];

export const STATUS_LABELS: Record<AsyncStatus, string> = {
  queued: 'Queued',
  running: 'Running',
  succeeded: 'Succeeded',
  failed: 'Failed',
  canceled: 'Canceled',
  expired: 'Expired',
};

const COLORS: Record<AsyncStatus, string> = {
  queued: 'yellow',
  running: 'blue',
  succeeded: 'teal',
  failed: 'red',
  canceled: 'gray',
  expired: 'orange',
};

export function StatusBadge({ status }: { status: AsyncStatus }) {
  return (
    <Badge
      color={COLORS[status]}
      variant="light"
      size="sm"
      radius="sm"
      className={classes.badge}
      tt="none"
    >
      {STATUS_LABELS[status]}
    </Badge>
  );
}
