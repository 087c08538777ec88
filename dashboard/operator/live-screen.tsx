// Workers and queue in real time, refetched every two seconds while the tab is visible.
import { Anchor, Stack, Text } from '@mantine/core';
import { ServerOff } from 'lucide-react';
import { Link } from 'wouter';
import type { Live } from '../../api/console/contract/accounts.ts';
import { DataTable } from '../parts/data-table.tsx';
import { Empty } from '../parts/empty.tsx';
import { formatCount, formatMs } from '../parts/format.ts';
import { PageHeader } from '../parts/page-header.tsx';
import { Panel } from '../parts/panel.tsx';
import { QueryState } from '../parts/query-state.tsx';
import { Section } from '../parts/section.tsx';
import { useGet } from '../session/use-get.ts';
import { FigureList } from './figure-list.tsx';
import { Minutes } from './minutes.tsx';
import { ProcessPanel } from './process-panel.tsx';

const REFRESH_MS = 2_000;

const sum = (figures: number[]) => figures.reduce((all, figure) => all + figure, 0);

/** API processes of a pool share its workers: counts each worker once. */
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
        ['Busy slots', `${formatCount(busy)} of ${formatCount(capacity)}`],
        ['Queued', formatCount(sum(live.processes.map(({ queue }) => queue.waiting)))],
        ['Longest queue time', oldestMs === 0 ? '–' : formatMs(oldestMs)],
        ['API processes', formatCount(live.processes.length)],
      ]}
    />
  );
}

export default function OperatorLiveScreen() {
  const live = useGet<Live>(['operator', 'live'], '/operator/live', {
    refetchInterval: REFRESH_MS,
    staleTime: 0,
  });
  const { data } = live;
  return (
    <>
      <PageHeader title="Workers & queue" description="Updates every 2 seconds." />
      <QueryState
        query={live}
        title="Could not load workers and queue"
        keepsData
        rows={4}
        height={96}
      />
      {data && (
        <Stack gap="lg">
          <Now live={data} />
          <Panel title="Renders per minute">
            <Minutes minutes={data.lastMinutes} />
          </Panel>
          {data.waitingByAccount.length > 0 && (
            <Section title="Queue by account">
              <DataTable
                label="Queue by account"
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
                  { title: 'Queued', align: 'end', cell: ({ waiting }) => formatCount(waiting) },
                ]}
              />
            </Section>
          )}
          {data.processes.length === 0 && (
            <Empty icon={ServerOff} title="No API process has reported">
              <Text size="sm">
                Each API process reports its queue and workers every few seconds.
              </Text>
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
