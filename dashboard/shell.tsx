// What stands around every screen: navigation, the open account, the person's menu.
import { useQuery } from '@tanstack/react-query';
import { Suspense, useState } from 'react';
import { Link, Route, Switch } from 'wouter';
import type { Me } from '../api/console/contract/people.ts';
import { get } from './api.ts';
import { screens } from './screens.tsx';
import { SessionContext } from './session.tsx';

export function Shell() {
  const me = useQuery({ queryKey: ['me'], queryFn: ({ signal }) => get<Me>('/me', signal) });
  const [chosen, openAccount] = useState<string>();
  if (!me.data) return <p>{me.error ? me.error.message : 'Loading…'}</p>;
  const account = me.data.accounts.find(({ id }) => id === chosen) ?? me.data.accounts[0];
  return (
    <SessionContext value={{ me: me.data, account, openAccount }}>
      <nav>
        {screens.flatMap(screen =>
          screen.label
            ? [
                <Link key={screen.path} href={screen.path}>
                  {screen.label}
                </Link>,
              ]
            : [],
        )}
      </nav>
      <main>
        <Suspense>
          <Switch>
            {screens.map(({ path, component: Component }) => (
              <Route key={path} path={path}>
                <Component />
              </Route>
            ))}
          </Switch>
        </Suspense>
      </main>
    </SessionContext>
  );
}
