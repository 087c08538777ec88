// The status of an asynchronous render, or the outcome of an attempt, as a colored badge.
import { Badge } from '@mantine/core';
import type { AsyncAttempt, AsyncRenderView } from '../../api/console/contract/async-renders.ts';
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

type Badged = AsyncStatus | AsyncAttempt['outcome'];

const LABELS: Record<Badged, string> = { ...STATUS_LABELS, interrupted: 'Interrupted' };

const COLORS: Record<Badged, string> = {
  queued: 'yellow',
  running: 'blue',
  succeeded: 'teal',
  failed: 'red',
  canceled: 'gray',
  expired: 'orange',
  interrupted: 'orange',
};

export function StatusBadge({ status }: { status: Badged }) {
  return (
    <Badge color={COLORS[status]} variant="light" size="sm" radius="sm" className={classes.badge}>
      {LABELS[status]}
    </Badge>
  );
}
