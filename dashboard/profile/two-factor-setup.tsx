// The setup of two-factor authentication: password, QR code, confirmation code, recovery codes.
import { Button, Group, Image, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { RecoveryCodes as Codes, TwoFactorBegun } from '../../api/console/contract/users.ts';
import { ActionForm } from '../parts/action-form.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Fact } from '../parts/fact.tsx';
import { Failure } from '../parts/failure.tsx';
import { fieldError, useAction } from '../parts/use-action.ts';
import { useFocusOnMount } from '../parts/use-focus-on-mount.ts';
import { post } from '../session/api.ts';
import { useSession } from '../session/session.tsx';
import { PasswordField } from './password-field.tsx';
import { RecoveryCodeList } from './recovery-codes.tsx';

function Begin({ onBegun }: { onBegun(begun: TwoFactorBegun): void }) {
  const { user } = useSession().me;
  const [password, setPassword] = useState('');
  const begin = useAction({
    run: () => post<TwoFactorBegun>('/me/two-factor', { password }),
    after: onBegun,
    errorInPlace: true,
  });
  const passwordError = fieldError(begin.error, 'password');
  return (
    <ActionForm action={begin}>
      <Text size="sm">
        You need an authenticator app on your phone, or a password manager with one-time codes.
      </Text>
      {user.hasPassword && (
        <PasswordField
          label="Password"
          value={password}
          error={passwordError}
          autoComplete="current-password"
          showLabel="Show password"
          data-autofocus
          onChange={({ currentTarget }) => setPassword(currentTarget.value)}
        />
      )}
      {begin.error && !passwordError && <Failure error={begin.error} />}
      <Group justify="flex-end">
        <Button
          type="submit"
          loading={begin.isPending}
          disabled={user.hasPassword && password === ''}
        >
          Continue
        </Button>
      </Group>
    </ActionForm>
  );
}

function Confirm({ begun, onCodes }: { begun: TwoFactorBegun; onCodes(codes: string[]): void }) {
  const [code, setCode] = useState('');
  const field = useFocusOnMount<HTMLInputElement>();
  const confirm = useAction({
    run: () => post<Codes>('/me/two-factor/confirm', { code }),
    refresh: [['me'], ['sessions']],
    after: ({ recoveryCodes }) => onCodes(recoveryCodes),
    errorInPlace: true,
  });
  const codeError = fieldError(confirm.error, 'code');
  return (
    <ActionForm action={confirm}>
      <Text size="sm">Scan the QR code with your authenticator app, or enter the secret.</Text>
      <Image
        src={`data:image/svg+xml,${encodeURIComponent(begun.qrSvg)}`}
        alt="QR code of the secret"
        w={200}
        h={200}
        mx="auto"
        bg="white"
        radius="sm"
      />
      <Fact name="Secret" value={begun.secret} copyLabel="Copy secret" />
      <TextInput
        label="Authentication code"
        value={code}
        error={codeError}
        inputMode="numeric"
        autoComplete="one-time-code"
        ref={field}
        onChange={({ currentTarget }) => setCode(currentTarget.value)}
      />
      {confirm.error && !codeError && <Failure error={confirm.error} />}
      <Group justify="flex-end">
        <Button type="submit" loading={confirm.isPending} disabled={code.trim().length < 6}>
          Turn on
        </Button>
      </Group>
    </ActionForm>
  );
}

export function TwoFactorSetup({ onClose }: { onClose(): void }) {
  const [begun, setBegun] = useState<TwoFactorBegun>();
  const [codes, setCodes] = useState<string[]>();
  return (
    <Dialog
      opened
      onClose={onClose}
      title={codes ? 'Two-factor authentication is on' : 'Set up two-factor authentication'}
      keep={codes !== undefined}
    >
      {codes ? (
        <RecoveryCodeList codes={codes} onDone={onClose} />
      ) : begun ? (
        <Confirm begun={begun} onCodes={setCodes} />
      ) : (
        <Begin onBegun={setBegun} />
      )}
    </Dialog>
  );
}
