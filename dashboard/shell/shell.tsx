// The frame of every screen: session, header, navigation, account banner and the current screen.
import { Container } from '@mantine/core';
import { useCallback, useMemo, useState } from 'react';
import type { Me } from '../../api/console/contract/users.ts';
import { Notices } from '../parts/notices.tsx';
import { QueryState } from '../parts/query-state.tsx';
import { readPreference, savePreference } from '../session/preferences.ts';
import { type DashboardSession, SessionContext } from '../session/session.tsx';
import { useGet } from '../session/use-get.ts';
import { AccountBanner } from './account-banner.tsx';
import { CurrentScreen } from './current-screen.tsx';
import { Header } from './header.tsx';
import { MainNavigation } from './navigation.tsx';
import classes from './shell.module.css';

const MAIN_ID = 'main';

export function Shell() {
  const me = useGet<Me>(['me'], '/me', { staleTime: 60_000 });
  const [chosen, choose] = useState(() => readPreference('account'));
  const openAccount = useCallback((id: string) => {
    savePreference('account', id);
    choose(id);
  }, []);
  const session = useMemo<DashboardSession | undefined>(
    () =>
      me.data && {
        me: me.data,
        account: me.data.accounts.find(({ id }) => id === chosen) ?? me.data.accounts[0],
        openAccount,
      },
    [me.data, chosen, openAccount],
  );
  if (!session)
    return (
      <Container size="sm" py="xl">
        <QueryState query={me} title="Could not load the dashboard" rows={6} />
      </Container>
    );
  return (
    <SessionContext value={session}>
      <a
        href={`#${MAIN_ID}`}
        className={classes.skip}
        onClick={() => document.getElementById(MAIN_ID)?.focus()}
      >
        Skip to content
      </a>
      <Header />
      <div className={classes.body}>
        <aside className={classes.side}>
          <MainNavigation />
        </aside>
        <main id={MAIN_ID} tabIndex={-1} className={classes.main}>
          {session.account && <AccountBanner key={session.account.id} />}
          <CurrentScreen />
        </main>
      </div>
      <Notices />
    </SessionContext>
  );
}
