// The plans side by side: limits, price, and which one is current.
import { Badge, Button, Group, Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import type { BillingView } from '../../api/console/contract/accounts.ts';
import { capitalize, formatCount, formatCountOf } from '../parts/format.ts';

type Plan = BillingView['plans'][number];

interface Props {
  billing: BillingView;
  mayPay: boolean;
  /** The plan whose checkout is opening. */
  choosing: string | undefined;
  onChoose(plan: string): void;
}

const planTitle = ({ name, title }: Pick<Plan, 'name' | 'title'>) => title ?? capitalize(name);

function Card({ plan, billing, mayPay, choosing, onChoose }: Props & { plan: Plan }) {
  const offered =
    billing.mode === 'stripe' &&
    mayPay &&
    plan.sold &&
    (!plan.current || billing.state === 'canceled');
  return (
    <Paper
      component="li"
      withBorder
      p="lg"
      {...(plan.current && { bd: '2px solid var(--mantine-primary-color-filled)' })}
    >
      <Stack gap="xs" h="100%">
        <Group justify="space-between">
          <Title order={2} size="h4">
            {planTitle(plan)}
          </Title>
          {plan.current && <Badge variant="light">Current</Badge>}
        </Group>
        {plan.price && (
          <Text fw={600} size="lg">
            {plan.price}
          </Text>
        )}
        <Text size="sm">{formatCountOf(plan.parallel, 'concurrent render')}</Text>
        <Text size="sm" c="dimmed">
          {plan.monthlyQuota === null
            ? 'No monthly quota'
            : `${formatCount(plan.monthlyQuota)} renders per month`}
        </Text>
        {offered && (
          <Button
            mt="auto"
            variant={billing.state === 'active' ? 'default' : 'filled'}
            loading={choosing === plan.name}
            disabled={choosing !== undefined && choosing !== plan.name}
            onClick={() => onChoose(plan.name)}
          >
            {`Choose ${planTitle(plan)}`}
          </Button>
        )}
      </Stack>
    </Paper>
  );
}

export function PlanCards(props: Props) {
  return (
    <SimpleGrid
      component="ul"
      cols={{ base: 1, xs: 2, lg: 4 }}
      p={0}
      m={0}
      aria-label="Plans"
      style={{ listStyle: 'none' }}
    >
      {props.billing.plans.map(plan => (
        <Card key={plan.name} plan={plan} {...props} />
      ))}
    </SimpleGrid>
  );
}
