// The health checks of the installation, each with a hint how to fix it.
import { Alert, Badge, Button, Paper, Stack, Text, Title } from '@mantine/core';
import { CircleAlert, CircleCheck, RefreshCw, TriangleAlert } from 'lucide-react';
import type { Health } from '../../api/console/contract/accounts.ts';
import { PageHeader } from '../parts/page-header.tsx';
import { QueryState } from '../parts/query-state.tsx';
import { TextWithCode } from '../parts/text-with-code.tsx';
import { useGet } from '../session/use-get.ts';
import classes from './health.module.css';

const CHECKS = {
  ok: { label: 'OK', color: 'teal' },
  warn: { label: 'Warning', color: 'yellow' },
  fail: { label: 'Failed', color: 'red' },
};
const OVERALL = {
  ok: { title: 'All checks passed', color: 'teal', icon: <CircleCheck size={18} aria-hidden /> },
  degraded: {
    title: 'Degraded',
    color: 'yellow',
    icon: <TriangleAlert size={18} aria-hidden />,
  },
  down: { title: 'Renders are failing', color: 'red', icon: <CircleAlert size={18} aria-hidden /> },
};

export default function OperatorHealthScreen() {
  const health = useGet<Health>(['operator', 'health'], '/operator/health', {
    refetchInterval: 15_000,
  });
  // An outdated result would be misleading: hide it after an error.
  const data = health.error ? undefined : health.data;
  return (
    <>
      <PageHeader
        title="Health"
        actions={
          <Button
            variant="default"
            leftSection={<RefreshCw size={16} aria-hidden />}
            loading={health.isFetching && !health.isPending}
            onClick={() => void health.refetch()}
          >
            Check again
          </Button>
        }
      />
      <QueryState query={health} title="Could not run the health checks" rows={5} height={72} />
      {data && (
        <Stack>
          <Alert variant="light" {...OVERALL[data.status]} />
          <Stack component="ul" gap="xs" m={0} p={0} aria-label="Checks">
            {data.checks.map(({ name, status, message, hint }) => (
              <Paper component="li" withBorder p="md" key={name} className={classes.check}>
                <Badge variant="light" color={CHECKS[status].color}>
                  {CHECKS[status].label}
                </Badge>
                <div>
                  <Title order={2} size="h6">
                    {name}
                  </Title>
                  <Text size="sm">
                    <TextWithCode>{message}</TextWithCode>
                  </Text>
                  {hint && (
                    <Text size="sm" c="dimmed" mt={4}>
                      <TextWithCode>{hint}</TextWithCode>
                    </Text>
                  )}
                </div>
              </Paper>
            ))}
          </Stack>
        </Stack>
      )}
    </>
  );
}
