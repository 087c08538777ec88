// Creates an API key with name, scopes, expiry and allowed IP addresses, then shows it once.
import { Checkbox, Group, NativeSelect, Stack, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { CreatedKeyView } from '../../api/console/contract/accounts.ts';
import { ActionForm, DialogButtons } from '../parts/action-form.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Failure } from '../parts/failure.tsx';
import { fieldError, useAction } from '../parts/use-action.ts';
import { post } from '../session/api.ts';
import { useAccount } from '../session/session.tsx';
import { KeyShownOnce } from './key-shown-once.tsx';

const EXPIRIES = [
  { value: 'never', label: 'Never' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In 1 year' },
  { value: 'date', label: 'Custom date' },
];

/** `YYYY-MM-DD`, `days` from now in the time zone of the browser. */
function dayFromNow(days: number, now = new Date()): string {
  const day = new Date(now.getFullYear(), now.getMonth(), now.getDate() + days);
  return [
    day.getFullYear(),
    String(day.getMonth() + 1).padStart(2, '0'),
    String(day.getDate()).padStart(2, '0'),
  ].join('-');
}

/** ISO 8601; undefined for never. A date means its end of day in the time zone of the browser. */
function expiryTime(choice: string, date: string, now = Date.now()): string | undefined {
  if (choice === 'never') return undefined;
  if (choice !== 'date') return new Date(now + Number(choice) * 86400e3).toISOString();
  const end = new Date(`${date}T23:59:59`);
  return Number.isNaN(end.getTime()) ? undefined : end.toISOString();
}

const SCOPES = [
  { value: 'render', label: 'Render', description: 'Create renders' },
  { value: 'read', label: 'Read', description: 'Read the account and its usage' },
];

interface Props {
  opened: boolean;
  onClose(): void;
  onCreated?(created: CreatedKeyView): void;
}

export function CreateKeyDialog({ opened, onClose, onCreated }: Props) {
  const [created, setCreated] = useState<CreatedKeyView>();
  const close = () => {
    onClose();
    setCreated(undefined);
  };
  return (
    <Dialog
      opened={opened}
      onClose={close}
      title={created ? 'Save your API key' : 'Create API key'}
      size="lg"
      keep={created !== undefined}
    >
      {created ? (
        <KeyShownOnce created={created} onDone={close} />
      ) : (
        <CreateForm
          onCancel={close}
          onCreated={made => {
            setCreated(made);
            onCreated?.(made);
          }}
        />
      )}
    </Dialog>
  );
}

function CreateForm({
  onCancel,
  onCreated,
}: {
  onCancel(): void;
  onCreated(created: CreatedKeyView): void;
}) {
  const { id } = useAccount();
  const [name, setName] = useState('');
  const [expiry, setExpiry] = useState('never');
  const [date, setDate] = useState(() => dayFromNow(30));
  const [addresses, setAddresses] = useState('');
  const [scopes, setScopes] = useState(SCOPES.map(({ value }) => value));
  const [test, setTest] = useState(false);
  const create = useAction<void, CreatedKeyView>({
    run: () => {
      const expiresAt = expiryTime(expiry, date);
      const allowedIps = addresses
        .split(/[\n,]/)
        .map(line => line.trim())
        .filter(Boolean);
      return post<CreatedKeyView>(`/accounts/${id}/keys`, {
        name,
        scopes,
        test,
        ...(expiresAt && { expiresAt }),
        ...(allowedIps.length > 0 && { allowedIps }),
      });
    },
    refresh: [
      ['keys', id],
      ['overview', id],
    ],
    after: onCreated,
    errorInPlace: true,
  });
  const nameError = fieldError(create.error, 'name');
  const expiryError = fieldError(create.error, 'expiresAt');
  const scopesError = fieldError(create.error, 'scopes');
  const addressError = fieldError(create.error, 'allowedIps');
  return (
    <ActionForm action={create}>
      <TextInput
        label="Name"
        description="Where the key is used, such as “billing service”."
        required
        maxLength={100}
        value={name}
        onChange={event => setName(event.currentTarget.value)}
        error={nameError}
        autoComplete="off"
        data-autofocus
      />
      <Checkbox.Group label="Scopes" value={scopes} onChange={setScopes} error={scopesError}>
        <Stack gap="xs" mt={4} mb={4}>
          {SCOPES.map(scope => (
            <Checkbox key={scope.value} {...scope} />
          ))}
        </Stack>
      </Checkbox.Group>
      <Checkbox
        label="Test key"
        description="Its renders have a watermark and don’t count toward usage."
        checked={test}
        onChange={event => setTest(event.currentTarget.checked)}
      />
      <Group grow align="flex-start">
        <NativeSelect
          label="Expires"
          data={EXPIRIES}
          value={expiry}
          onChange={event => setExpiry(event.currentTarget.value)}
          error={expiry === 'date' ? undefined : expiryError}
        />
        {expiry === 'date' && (
          <TextInput
            type="date"
            label="Expiry date"
            required
            min={dayFromNow(0)}
            value={date}
            onChange={event => setDate(event.currentTarget.value)}
            error={expiryError}
          />
        )}
      </Group>
      <Textarea
        label="Allowed IP addresses"
        description="One IP or CIDR per line, such as 203.0.113.0/24. Leave empty to allow any IP."
        autosize
        minRows={2}
        maxRows={8}
        value={addresses}
        onChange={event => setAddresses(event.currentTarget.value)}
        error={addressError}
        spellCheck={false}
      />
      {create.error && !nameError && !scopesError && !expiryError && !addressError && (
        <Failure error={create.error} title="Could not create the key" />
      )}
      <DialogButtons onCancel={onCancel} loading={create.isPending}>
        Create key
      </DialogButtons>
    </ActionForm>
  );
}
