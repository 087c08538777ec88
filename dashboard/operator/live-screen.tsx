// Workers and queue as they are now, asked for again every two seconds while somebody looks.
import { Anchor, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { ServerOff } from 'lucide-react';
import { Link } from 'wouter';
import type { Live } from '../../api/console/contract/accounts.ts';
import { DataTable } from '../parts/data-table.tsx';
import { Empty } from '../parts/empty.tsx';
import { Failure } from '../parts/failure.tsx';
import { formatCount, formatMs } from '../parts/format.ts';
import { Loading } from '../parts/loading.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { Panel } from '../parts/panel.tsx';
import { Section } from '../parts/section.tsx';
import { get } from '../session/api.ts';
import { FigureList } from './figure-list.tsx';
import { Minutes } from './minutes.tsx';
import { ProcessPanel } from './process-panel.tsx';

const EVERY_MS = 2_000;

const sum = (figures: number[]) => figures.reduce((all, figure) => all + figure, 0);

/** Processes of one pool share their workers: each of them is counted once. */
function slotsOf(processes: Live['processes']): { capacity: number; busy: number } {
  const workers = new Map(
    processes.flatMap(({ workers: known }) =>
      known.map(worker => [worker.address, worker] as const),
    ),
  );
  return {
    capacity: sum([...workers.values()].map(({ capacity }) => capacity)),
    busy: sum([...workers.values()].map(({ busy }) => busy)),
  };
}

function Now({ live }: { live: Live }) {
  const { capacity, busy } = slotsOf(live.processes);
  const oldestMs = Math.max(0, ...live.processes.map(({ queue }) => queue.oldestMs));
  return (
    <FigureList
      figures={[
        ['Slots busy', `${formatCount(busy)} of ${formatCount(capacity)}`],
        ['Waiting', formatCount(sum(live.processes.map(({ queue }) => queue.waiting)))],
        ['Oldest wait', oldestMs === 0 ? '–' : formatMs(oldestMs)],
        ['API processes', formatCount(live.processes.length)],
      ]}
    />
  );
}

export default function OperatorLiveScreen() {
  const live = useQuery({
    queryKey: ['operator', 'live'],
    queryFn: ({ signal }) => get<Live>('/operator/live', signal),
    refetchInterval: EVERY_MS,
    staleTime: 0,
  });
  const { data } = live;
  return (
    <>
      <PageHeader title="Workers & queue" description="Renewed every 2 seconds while you look." />
      {live.isPending && <Loading rows={4} height={96} />}
      {live.error && (
        <Failure
          error={live.error}
          retry={() => void live.refetch()}
          title="The workers could not be read"
          {...(data && { shownOf: live.dataUpdatedAt })}
        />
      )}
      {data && (
        <Stack gap="lg">
          <Now live={data} />
          <Panel title="Renders by the minute">
            <Minutes minutes={data.lastMinutes} />
          </Panel>
          {data.waitingByAccount.length > 0 && (
            <Section title="Who waits">
              <DataTable
                label="Accounts that wait"
                rows={data.waitingByAccount}
                rowKey={({ id }) => id}
                columns={[
                  {
                    title: 'Account',
                    cell: ({ id, name }) => (
                      <Anchor
                        component={Link}
                        href={`/operator/accounts?account=${encodeURIComponent(id)}`}
                      >
                        {name ?? id}
                      </Anchor>
                    ),
                  },
                  { title: 'Waiting', align: 'end', cell: ({ waiting }) => formatCount(waiting) },
                ]}
              />
            </Section>
          )}
          {data.processes.length === 0 && (
            <Empty icon={ServerOff} title="No API process has reported">
              <Text size="sm">Each one writes what it sees every few seconds.</Text>
            </Empty>
          )}
          {data.processes.map(process => (
            <ProcessPanel key={process.id} process={process} />
          ))}
        </Stack>
      )}
    </>
  );
}
