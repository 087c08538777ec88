// What an operator changes of an account: plan, state, whether it reaches intranet pages; and
// suspending it.
import { Button, Group, NativeSelect, Switch } from '@mantine/core';
import { useState } from 'react';
import type { OperatorAccount } from '../../api/console/contract/accounts.ts';
import { ActionForm } from '../parts/action-form.tsx';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { Failure } from '../parts/failure.tsx';
import { Panel } from '../parts/panel.tsx';
import { useAction } from '../parts/use-action.ts';
import { patch } from '../session/api.ts';
import { useSession } from '../session/session.tsx';
import { type OperatorAccountState, STATES } from './states.tsx';

type Change = Partial<Pick<OperatorAccount, 'plan' | 'state' | 'intranet'>>;

export function ChangeAccount({ account }: { account: OperatorAccount }) {
  const { plans, billing } = useSession().me.installation;
  const [plan, setPlan] = useState(account.plan);
  const [state, setState] = useState<OperatorAccountState>(account.state);
  const [intranet, setIntranet] = useState(account.intranet);
  const [suspending, setSuspending] = useState(false);
  const changes: Change = {
    ...(plan !== account.plan && { plan }),
    ...(state !== account.state && { state }),
    ...(intranet !== account.intranet && { intranet }),
  };
  const refresh = [
    ['operator', 'accounts'],
    ['operator', 'account', account.id],
    ['overview', account.id],
    ['me'],
  ];
  const change = useAction({
    run: () => patch<OperatorAccount>(`/operator/accounts/${account.id}`, changes),
    done: 'The account was changed.',
    refresh,
    errorInPlace: true,
  });
  const suspend = useAction({
    run: (to: OperatorAccountState) =>
      patch<OperatorAccount>(`/operator/accounts/${account.id}`, { state: to }),
    done: ({ state: now }) =>
      now === 'paused' ? 'The account is suspended.' : 'The account works again.',
    refresh,
    after: ({ state: now }) => {
      setState(now);
      setSuspending(false);
    },
    errorInPlace: true,
  });
  const suspended = account.state === 'paused';
  const planNames = [...new Set([...plans.map(({ name }) => name), account.plan])];
  return (
    <Panel
      title="Change"
      {...(billing === 'stripe' && {
        description:
          'Plan and state come from Stripe: what you set here may be overwritten at its next word.',
      })}
    >
      <ActionForm action={change}>
        <NativeSelect
          label="Plan"
          data={planNames}
          value={plan}
          onChange={({ currentTarget }) => setPlan(currentTarget.value)}
        />
        <NativeSelect
          label="State"
          description={
            billing === 'none'
              ? 'Decides nothing here: this installation has no billing.'
              : STATES.find(each => each.state === state)?.means
          }
          disabled={billing === 'none'}
          data={STATES.map(({ state: value, label }) => ({ value, label }))}
          value={state}
          onChange={({ currentTarget }) => setState(currentTarget.value as OperatorAccountState)}
        />
        <Switch
          label="May reach the intranet"
          description="Its renders reach the private addresses of the operator’s allow-list, and no others."
          checked={intranet}
          onChange={({ currentTarget }) => setIntranet(currentTarget.checked)}
        />
        {change.error && <Failure error={change.error} />}
        <Group gap="xs">
          <Button
            type="submit"
            loading={change.isPending}
            disabled={Object.keys(changes).length === 0}
          >
            Save
          </Button>
          {billing !== 'none' && (
            <Button variant="default" onClick={() => setSuspending(true)}>
              {suspended ? 'Lift the suspension' : 'Suspend the account'}
            </Button>
          )}
        </Group>
      </ActionForm>
      <ConfirmDialog
        opened={suspending}
        danger={!suspended}
        title={suspended ? `Let ${account.name} work again?` : `Suspend ${account.name}?`}
        confirm={suspended ? 'Lift the suspension' : 'Suspend the account'}
        busy={suspend.isPending}
        error={suspend.error}
        onConfirm={() => suspend.mutate(suspended ? 'active' : 'paused')}
        onClose={() => {
          suspend.reset();
          setSuspending(false);
        }}
      >
        {suspended
          ? 'Its keys work again from the next request on.'
          : 'From the next request on every render is refused with 403 subscription_inactive. What runs now is finished. Keys, team and log stay as they are, and people can still sign in and look.'}
      </ConfirmDialog>
    </Panel>
  );
}
