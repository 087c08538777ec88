// The second factor: whether it is on, how many recovery codes are left, and how it is switched on
// and off.
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

type Doing = 'set up' | 'new codes' | 'switch off';

/** Asks for a code before what it protects is changed. */
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
        label="A code of your app, or a recovery code"
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
  const [doing, setDoing] = useState<Doing>();
  const [codes, setCodes] = useState<string[]>();
  const close = () => {
    setDoing(undefined);
    setCodes(undefined);
  };
  const dialog = { opened: true, onClose: close };
  return (
    <Panel
      title="Second factor"
      description="A code from your phone besides the password: who steals the one has not got the other."
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
              <Button variant="default" onClick={() => setDoing('new codes')}>
                Make new recovery codes
              </Button>
              <Button variant="default" onClick={() => setDoing('switch off')}>
                Switch it off
              </Button>
            </>
          ) : (
            <Button onClick={() => setDoing('set up')}>Set it up</Button>
          )}
        </Group>
      </Stack>
      {doing === 'set up' && <TwoFactorSetup onClose={close} />}
      {doing === 'new codes' && (
        <Dialog {...dialog} title="New recovery codes" keep={codes !== undefined}>
          {codes ? (
            <RecoveryCodeList codes={codes} onDone={close} />
          ) : (
            <CodeForm
              hint="The codes that you have now will not work any more."
              button="Make new codes"
              run={code => post<Codes>('/me/two-factor/recovery-codes', { code })}
              after={setCodes}
            />
          )}
        </Dialog>
      )}
      {doing === 'switch off' && (
        <Dialog {...dialog} title="Switch the second factor off?">
          <CodeForm
            hint="From then on the password alone lets you in, and all your other sessions end."
            button="Switch it off"
            danger
            run={code => remove<undefined>('/me/two-factor', { code })}
            done="The second factor is off."
            after={close}
          />
        </Dialog>
      )}
    </Panel>
  );
}
