// The profile of the signed-in user: name, password, 2FA, connected apps, sessions.
import { Stack } from '@mantine/core';
import { PageHeader } from '../parts/page-header.tsx';
import { useSession } from '../session/session.tsx';
import { ConnectedAppsPanel } from './connected-apps.tsx';
import { NamePanel } from './name.tsx';
import { PasswordPanel } from './password.tsx';
import { SessionsPanel } from './sessions.tsx';
import { TwoFactorPanel } from './two-factor.tsx';

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
