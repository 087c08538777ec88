// The home screen: figures, errors and recent renders of the account, or the quick start while it
// has no renders.
import { Anchor, Badge, SimpleGrid, Skeleton, Stack } from '@mantine/core';
import { CircleCheck } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { Empty } from '../parts/empty.tsx';
import { capitalize } from '../parts/format.ts';
import { Loading } from '../parts/loading.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { QueryState } from '../parts/query-state.tsx';
import { Section } from '../parts/section.tsx';
import { RenderTable } from '../renders/render-table.tsx';
import { useOverview } from '../session/overview.ts';
import { useMay } from '../session/session.tsx';
import { DayErrors } from './day-errors.tsx';
import { Figures } from './figures.tsx';
import { QuickStart } from './quick-start.tsx';

const REFRESH_MS = 3_000;

export default function Home() {
  const mayReadRenders = useMay('renders.read');
  const overview = useOverview({ refetchInterval: REFRESH_MS });
  const { data } = overview;
  // Keeps the quick start mounted while the dialog shows a new key: its first render may finish.
  const [creating, setCreating] = useState(false);
  return (
    <>
      <PageHeader
        title="Home"
        mark={
          data && (
            <Badge variant="light" radius="sm">
              {capitalize(data.account.plan)} plan
            </Badge>
          )
        }
      />
      <QueryState query={overview} title="Could not load the overview" keepsData>
        <FiguresLoading />
      </QueryState>
      {data && (
        <Stack gap="xl">
          <Figures {...data} />
          {mayReadRenders && (data.recent.length === 0 || creating) ? (
            <QuickStart keys={data.keys} creating={creating} setCreating={setCreating} />
          ) : (
            <>
              <Section title="Errors in the last 24 hours">
                {data.errors.length > 0 ? (
                  <DayErrors errors={data.errors} />
                ) : (
                  <Empty icon={CircleCheck} title="No errors in the last 24 hours" />
                )}
              </Section>
              {mayReadRenders && (
                <Section
                  title="Recent renders"
                  actions={
                    <Anchor component={Link} href="/renders" size="sm">
                      All renders
                    </Anchor>
                  }
                >
                  <RenderTable label="Recent renders" rows={data.recent} />
                </Section>
              )}
            </>
          )}
        </Stack>
      )}
    </>
  );
}

function FiguresLoading() {
  return (
    <>
      <SimpleGrid cols={{ base: 2, lg: 4 }} spacing="sm" mb="xl">
        {['usage', 'running', 'day', 'time'].map(figure => (
          <Skeleton key={figure} height={124} />
        ))}
      </SimpleGrid>
      <Loading rows={6} />
    </>
  );
}
