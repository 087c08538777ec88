// The account at a glance: what is used, what runs, what failed, what was rendered last; for a new
// account, the way to its first render.
import { Anchor, Badge, SimpleGrid, Skeleton, Stack } from '@mantine/core';
import { CircleCheck } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { Empty } from '../parts/empty.tsx';
import { Failure } from '../parts/failure.tsx';
import { Loading } from '../parts/loading.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { Section } from '../parts/section.tsx';
import { RenderTable } from '../renders/render-table.tsx';
import { useOverview } from '../session/overview.ts';
import { useMay } from '../session/session.tsx';
import { DayErrors } from './day-errors.tsx';
import { Figures } from './figures.tsx';
import { QuickStart } from './quick-start.tsx';

/** The figures are of now. */
const REFRESHED_MS = 3_000;

export default function Home() {
  const mayReadRenders = useMay('renders.read');
  const overview = useOverview({ refetchInterval: REFRESHED_MS });
  const { data } = overview;
  // The first render may come while the dialog still shows the key that made it.
  const [creating, setCreating] = useState(false);
  return (
    <>
      <PageHeader
        title="Home"
        mark={
          data && (
            <Badge variant="light" tt="none" radius="sm">
              {data.account.plan}
            </Badge>
          )
        }
      />
      {overview.error && (
        <Failure
          error={overview.error}
          retry={() => void overview.refetch()}
          title="The figures could not be read"
          {...(data && { shownOf: overview.dataUpdatedAt })}
        />
      )}
      {!data && !overview.error && <FiguresLoading />}
      {data && (
        <Stack gap="xl">
          <Figures {...data} />
          {mayReadRenders && (data.recent.length === 0 || creating) ? (
            <QuickStart keys={data.keys} creating={creating} setCreating={setCreating} />
          ) : (
            <>
              <Section title="Errors of the last 24 hours">
                {data.errors.length > 0 ? (
                  <DayErrors errors={data.errors} />
                ) : (
                  <Empty icon={CircleCheck} title="No render has failed in the last 24 hours" />
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
