// Lets an operator change plan, state, intranet access and renderer reuse of an account, and suspend
// it.
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

type Access = Pick<OperatorAccount, 'intranet' | 'rendererReuse'>;
type Change = Partial<Pick<OperatorAccount, 'plan' | 'state'> & Access>;

function AccessSwitches({
  value: { intranet, rendererReuse },
  onChange,
}: {
  value: Access;
  onChange(value: Access): void;
}) {
  return (
    <>
      <Switch
        label="Intranet access"
        description="Renders from this account can reach private addresses on the allowlist."
        checked={intranet}
        onChange={({ currentTarget }) =>
          onChange({ intranet: currentTarget.checked, rendererReuse })
        }
      />
      <Switch
        label="Renderer reuse"
        description="Static documents of this account may share a browser page without scripts and network, if PRESSROOM_RENDERER_REUSE is on. Turn it off if its users do not trust each other."
        checked={rendererReuse}
        onChange={({ currentTarget }) =>
          onChange({ intranet, rendererReuse: currentTarget.checked })
        }
      />
    </>
  );
}

export function ChangeAccount({ account }: { account: OperatorAccount }) {
  const { plans, billing } = useSession().me.installation;
  const [plan, setPlan] = useState(account.plan);
  const [state, setState] = useState<OperatorAccountState>(account.state);
  const [access, setAccess] = useState<Access>(account);
  const [suspending, setSuspending] = useState(false);
  const changes: Change = {
    ...(plan !== account.plan && { plan }),
    ...(state !== account.state && { state }),
    ...(access.intranet !== account.intranet && { intranet: access.intranet }),
    ...(access.rendererReuse !== account.rendererReuse && {
      rendererReuse: access.rendererReuse,
    }),
  };
  const refresh = [
    ['operator', 'accounts'],
    ['operator', 'account', account.id],
    ['overview', account.id],
    ['me'],
  ];
  const change = useAction({
    run: () => patch<OperatorAccount>(`/operator/accounts/${account.id}`, changes),
    done: 'Account updated.',
    refresh,
    errorInPlace: true,
  });
  const suspend = useAction({
    run: (to: OperatorAccountState) =>
      patch<OperatorAccount>(`/operator/accounts/${account.id}`, { state: to }),
    done: ({ state: now }) => (now === 'paused' ? 'Account suspended.' : 'Account reactivated.'),
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
      title="Plan and access"
      {...(billing === 'stripe' && {
        description:
          'Stripe manages plan and state. The next Stripe event may overwrite your changes.',
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
              ? 'Not used: this installation has no billing.'
              : STATES.find(each => each.state === state)?.description
          }
          disabled={billing === 'none'}
          data={STATES.map(({ state: value, label }) => ({ value, label }))}
          value={state}
          onChange={({ currentTarget }) => setState(currentTarget.value as OperatorAccountState)}
        />
        <AccessSwitches value={access} onChange={setAccess} />
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
              {suspended ? 'Reactivate account' : 'Suspend account'}
            </Button>
          )}
        </Group>
      </ActionForm>
      <ConfirmDialog
        opened={suspending}
        danger={!suspended}
        title={suspended ? `Reactivate ${account.name}?` : `Suspend ${account.name}?`}
        confirm={suspended ? 'Reactivate account' : 'Suspend account'}
        action={suspend}
        onConfirm={() => suspend.mutate(suspended ? 'active' : 'paused')}
        onClose={() => setSuspending(false)}
      >
        {suspended
          ? 'New renders will be accepted immediately. API keys, team and render log are unchanged.'
          : 'All new renders will be rejected with 403 subscription_inactive. Renders in progress will finish. Members can still sign in.'}
      </ConfirmDialog>
    </Panel>
  );
}
