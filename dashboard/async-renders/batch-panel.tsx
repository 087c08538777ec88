// The batch by which the list is filtered: its progress by status, and Cancel the rest.
import { Button, Group, Paper, Progress, Text } from '@mantine/core';
import { Ban } from 'lucide-react';
import { useState } from 'react';
import type { Batch } from '../../common/contract/batches.ts';
import { formatCount, formatCountOf } from '../parts/format.ts';
import { QueryState } from '../parts/query-state.tsx';
import { When } from '../parts/when.tsx';
import { useAccount, useMay } from '../session/session.tsx';
import { useGet } from '../session/use-get.ts';
import classes from './async-renders.module.css';
import { CancelDialog } from './cancel-dialog.tsx';
import { STATUS_LABELS } from './status-badge.tsx';

/** While a render of the batch is unfinished. */
const REFRESH_MS = 3_000;

/** From left to right, with the colors of the bar. The empty end of the bar is what is queued. */
const COLORS = {
  succeeded: 'var(--mantine-color-teal-filled)',
  failed: 'var(--mantine-color-red-filled)',
  canceled: 'var(--mantine-color-gray-6)',
  expired: 'var(--mantine-color-orange-filled)',
  running: 'var(--mantine-color-blue-filled)',
  queued: 'light-dark(var(--mantine-color-gray-2), var(--mantine-color-dark-4))',
} as const;
const ORDER = Object.keys(COLORS) as (keyof typeof COLORS)[];

const unfinishedOf = ({ counts }: Batch) => counts.queued + counts.running;

export function BatchPanel({ id }: { id: string }) {
  const account = useAccount();
  const batch = useGet<Batch>(
    ['async-batch', account.id, id],
    `/accounts/${account.id}/batches/${encodeURIComponent(id)}`,
    {
      refetchInterval: ({ state }) =>
        state.data && unfinishedOf(state.data) > 0 ? REFRESH_MS : false,
    },
  );
  if (batch.data) return <BatchProgress batch={batch.data} />;
  return <QueryState query={batch} title="Could not load this batch" rows={1} height={96} />;
}

function BatchProgress({ batch }: { batch: Batch }) {
  const mayWrite = useMay('renders.write');
  const [canceling, setCanceling] = useState(false);
  const { id, counts, total } = batch;
  const unfinished = unfinishedOf(batch);
  const shown = ORDER.filter(status => counts[status] > 0);
  return (
    <Paper withBorder p="md" mb="md" component="section" aria-label="Batch">
      <Group justify="space-between" align="flex-start" gap="sm" mb="sm">
        <div>
          <Text fw={600}>
            {unfinished === 0
              ? `${formatCountOf(total, 'render has', 'renders have')} ended`
              : `${formatCount(total - unfinished)} of ${formatCountOf(total, 'render')} ended`}
          </Text>
          <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
            {id}, created <When at={batch.created_at} />
          </Text>
        </div>
        {mayWrite && unfinished > 0 && (
          <Button
            size="xs"
            variant="default"
            leftSection={<Ban size={14} aria-hidden />}
            onClick={() => setCanceling(true)}
          >
            Cancel the rest
          </Button>
        )}
      </Group>
      <Progress.Root size="lg" aria-hidden>
        {shown
          .filter(status => status !== 'queued')
          .map(status => (
            <Progress.Section
              key={status}
              value={(counts[status] / total) * 100}
              color={COLORS[status]}
              withAria={false}
            />
          ))}
      </Progress.Root>
      <ul className={classes.counts} aria-label="Number of renders">
        {shown.map(status => (
          <li key={status}>
            <span className={classes.dot} style={{ background: COLORS[status] }} />
            {formatCount(counts[status])} {STATUS_LABELS[status].toLowerCase()}
          </li>
        ))}
      </ul>
      <CancelDialog
        folder="batches"
        query="async-batch"
        id={id}
        title="Cancel the rest of this batch?"
        confirm="Cancel the rest"
        dismiss="Keep renders"
        done="The rest of the batch is canceled."
        opened={canceling}
        onClose={() => setCanceling(false)}
      >
        Queued renders of this batch will not start. Running ones stop within a second. PDFs that
        exist stay available. This cannot be undone.
      </CancelDialog>
    </Paper>
  );
}
