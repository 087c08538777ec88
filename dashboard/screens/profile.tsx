// The signed-in person: name, password, second factor, connected apps, sessions.
import { Stack } from '@mantine/core';
import { PageHeader } from '../parts/page-header.tsx';
import { ConnectedAppsPanel } from '../profile/connected-apps.tsx';
import { NamePanel } from '../profile/name.tsx';
import { PasswordPanel } from '../profile/password.tsx';
import { SessionsPanel } from '../profile/sessions.tsx';
import { TwoFactorPanel } from '../profile/two-factor.tsx';
import { useSession } from '../session/session.tsx';

export default function ProfileScreen() {
  const { me } = useSession();
  return (
    <>
      <PageHeader title="Your profile" />
      <Stack maw={860} gap="lg">
        <NamePanel />
        <PasswordPanel />
        <TwoFactorPanel />
        {me.installation.mcpUrl && <ConnectedAppsPanel />}
        <SessionsPanel />
      </Stack>
    </>
  );
}
