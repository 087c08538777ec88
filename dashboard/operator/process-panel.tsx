// One API process: its queue, and its workers with their slots.
import { Badge, Group, Text } from '@mantine/core';
import type { Live } from '../../api/console/contract/accounts.ts';
import { DataTable } from '../parts/data-table.tsx';
import { capitalize, formatCount, formatMs } from '../parts/format.ts';
import { Panel } from '../parts/panel.tsx';
import { When } from '../parts/when.tsx';
import classes from './operator.module.css';

type Process = Live['processes'][number];
type Worker = Process['workers'][number];

function Slots({ capacity, busy }: Pick<Worker, 'capacity' | 'busy'>) {
  const cells = Array.from({ length: Math.max(capacity, busy) }, (_, index) => ({
    id: `slot ${index}`,
    busy: index < busy,
  }));
  return (
    <div>
      <div className={classes.cells} aria-hidden="true">
        {cells.map(cell => (
          <div key={cell.id} className={classes.cell} data-busy={cell.busy || undefined} />
        ))}
      </div>
      <Text size="xs" c="dimmed" mt={2}>
        {formatCount(busy)} of {formatCount(capacity)} busy
      </Text>
    </div>
  );
}

export function ProcessPanel({ process }: { process: Process }) {
  const { id, pool, startedAt, queue, workers } = process;
  return (
    <Panel
      title={`API process ${id}`}
      description={
        <Group gap="md">
          <span>Pool {pool}</span>
          <span>
            Started <When at={startedAt} />
          </span>
          <span>
            {queue.waiting === 0
              ? 'Queue empty'
              : `${formatCount(queue.waiting)} queued, the oldest for ${formatMs(queue.oldestMs)}`}
          </span>
        </Group>
      }
    >
      {workers.length === 0 ? (
        <Text size="sm">No workers. Renders stay queued until a worker is available.</Text>
      ) : (
        <DataTable
          label={`Workers of ${id}`}
          rows={workers}
          rowKey={({ address }) => address}
          columns={[
            { title: 'Worker', cell: ({ address }) => address },
            {
              title: 'State',
              cell: ({ state }) => (
                <Badge variant="light" color={state === 'serving' ? 'teal' : 'yellow'}>
                  {capitalize(state)}
                </Badge>
              ),
            },
            { title: 'Slots', cell: worker => <Slots {...worker} /> },
          ]}
        />
      )}
    </Panel>
  );
}
