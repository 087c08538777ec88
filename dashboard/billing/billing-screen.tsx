// The plan, subscription and prices of the account, for each billing mode of the installation.
import { Alert, Button, Group, Stack } from '@mantine/core';
import { ExternalLink, Info } from 'lucide-react';
import type { BillingView } from '../../api/console/contract/accounts.ts';
import { PageHeader } from '../parts/page-header.tsx';
import { QueryState } from '../parts/query-state.tsx';
import { useAction } from '../parts/use-action.ts';
import { post } from '../session/api.ts';
import { useAccount, useMay } from '../session/session.tsx';
import { useGet } from '../session/use-get.ts';
import { BillingStatus } from './billing-status.tsx';
import { PlanCards } from './plan-cards.tsx';

const MODES: Record<BillingView['mode'], string> = {
  none: 'This installation has no billing. All accounts are free of charge.',
  manual: 'Your administrator manages this plan. Contact them to upgrade.',
  stripe: 'The plan sets your concurrency limit. Payments are processed by Stripe.',
};

export default function BillingScreen() {
  const account = useAccount();
  const mayPay = useMay('billing.write');
  const path = `/accounts/${account.id}/billing`;
  const billing = useGet<BillingView>(['billing', account.id], path);
  const openUrl = ({ url }: { url: string }) => location.assign(url);
  const checkout = useAction({
    run: (plan: string) => post<{ url: string }>(`${path}/checkout`, { plan }),
    after: openUrl,
  });
  const portal = useAction({ run: () => post<{ url: string }>(`${path}/portal`), after: openUrl });
  const { data } = billing;
  return (
    <>
      <PageHeader
        title="Plan & billing"
        description={data && MODES[data.mode]}
        actions={
          data?.canManage &&
          mayPay && (
            <Button
              variant="default"
              leftSection={<ExternalLink size={16} aria-hidden />}
              loading={portal.isPending}
              onClick={() => portal.mutate()}
            >
              Manage billing
            </Button>
          )
        }
      />
      <QueryState query={billing} rows={3} height={120} />
      {data && (
        <Stack gap="lg">
          {data.notice && (
            <Alert
              color="yellow"
              variant="light"
              icon={<Info size={18} aria-hidden />}
              title="This page may be out of date"
            >
              {data.notice}
            </Alert>
          )}
          <BillingStatus billing={data} mayPay={mayPay} />
          <PlanCards
            billing={data}
            mayPay={mayPay}
            choosing={checkout.isPending ? checkout.variables : undefined}
            onChoose={plan => checkout.mutate(plan)}
          />
          {data.mode === 'stripe' && !mayPay && (
            <Group>
              <Alert variant="light" icon={<Info size={18} aria-hidden />} title="View only">
                Only members with the Owner or Billing role can change the plan.
              </Alert>
            </Group>
          )}
        </Stack>
      )}
    </>
  );
}
