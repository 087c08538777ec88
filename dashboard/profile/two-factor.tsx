// Two-factor authentication: state, remaining recovery codes, turning it on and off.
import { Badge, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { RecoveryCodes as Codes } from '../../api/console/contract/users.ts';
import { ActionForm } from '../parts/action-form.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Failure } from '../parts/failure.tsx';
import { formatCountOf } from '../parts/format.ts';
import { Panel } from '../parts/panel.tsx';
import { fieldError, useAction } from '../parts/use-action.ts';
import { post, remove } from '../session/api.ts';
import { useSession } from '../session/session.tsx';
import { RecoveryCodeList } from './recovery-codes.tsx';
import { TwoFactorSetup } from './two-factor-setup.tsx';

type OpenDialog = 'set up' | 'new codes' | 'turn off';

/** Asks for a code to confirm a change of the two-factor settings. */
function CodeForm({
  hint,
  button,
  danger,
  run,
  done,
  after,
}: {
  hint: string;
  button: string;
  danger?: boolean;
  run(code: string): Promise<Codes | undefined>;
  done?: string;
  after(codes: string[] | undefined): void;
}) {
  const [code, setCode] = useState('');
  const act = useAction({
    run: () => run(code),
    ...(done && { done }),
    refresh: [['me'], ['sessions']],
    after: answer => after(answer?.recoveryCodes),
    errorInPlace: true,
  });
  const codeError = fieldError(act.error, 'code');
  return (
    <ActionForm action={act}>
      <Text size="sm">{hint}</Text>
      <TextInput
        label="Authentication or recovery code"
        value={code}
        error={codeError}
        autoComplete="one-time-code"
        data-autofocus
        onChange={({ currentTarget }) => setCode(currentTarget.value)}
      />
      {act.error && !codeError && <Failure error={act.error} />}
      <Group justify="flex-end">
        <Button
          type="submit"
          {...(danger && { color: 'red' })}
          loading={act.isPending}
          disabled={code.trim().length < 6}
        >
          {button}
        </Button>
      </Group>
    </ActionForm>
  );
}

export function TwoFactorPanel() {
  const { on, recoveryCodesLeft } = useSession().me.user.twoFactor;
  const [openDialog, setOpenDialog] = useState<OpenDialog>();
  const [codes, setCodes] = useState<string[]>();
  const close = () => {
    setOpenDialog(undefined);
    setCodes(undefined);
  };
  const dialog = { opened: true, onClose: close };
  return (
    <Panel
      title="Two-factor authentication"
      description="Require a code from your authenticator app in addition to your password."
    >
      <Stack gap="sm">
        <Group gap="sm">
          <Badge color={on ? 'teal' : 'gray'} variant="light">
            {on ? 'On' : 'Off'}
          </Badge>
          {on && <Text size="sm">{formatCountOf(recoveryCodesLeft, 'recovery code')} left</Text>}
        </Group>
        <Group gap="xs">
          {on ? (
            <>
              <Button variant="default" onClick={() => setOpenDialog('new codes')}>
                New recovery codes
              </Button>
              <Button variant="default" onClick={() => setOpenDialog('turn off')}>
                Turn off
              </Button>
            </>
          ) : (
            <Button onClick={() => setOpenDialog('set up')}>Set up</Button>
          )}
        </Group>
      </Stack>
      {openDialog === 'set up' && <TwoFactorSetup onClose={close} />}
      {openDialog === 'new codes' && (
        <Dialog {...dialog} title="New recovery codes" keep={codes !== undefined}>
          {codes ? (
            <RecoveryCodeList codes={codes} onDone={close} />
          ) : (
            <CodeForm
              hint="Your current recovery codes will stop working."
              button="Generate codes"
              run={code => post<Codes>('/me/two-factor/recovery-codes', { code })}
              after={setCodes}
            />
          )}
        </Dialog>
      )}
      {openDialog === 'turn off' && (
        <Dialog {...dialog} title="Turn off two-factor authentication?">
          <CodeForm
            hint="You will sign in with your password only. All other sessions will be signed out."
            button="Turn off"
            danger
            run={code => remove<undefined>('/me/two-factor', { code })}
            done="Two-factor authentication turned off."
            after={close}
          />
        </Dialog>
      )}
    </Panel>
  );
}
