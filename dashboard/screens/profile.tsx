// The signed-in person: name, password, second factor, sessions.
import { Stack } from '@mantine/core';
import { PageHeader } from '../parts/page-header.tsx';
import { NamePanel } from '../profile/name.tsx';
import { PasswordPanel } from '../profile/password.tsx';
import { SessionsPanel } from '../profile/sessions.tsx';
import { TwoFactorPanel } from '../profile/two-factor.tsx';

export default function ProfileScreen() {
  return (
    <>
      <PageHeader title="Your profile" />
      <Stack maw={860} gap="lg">
        <NamePanel />
        <PasswordPanel />
        <TwoFactorPanel />
        <SessionsPanel />
      </Stack>
    </>
  );
}
