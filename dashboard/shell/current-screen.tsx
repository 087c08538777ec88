// The screen that the path names, or why there is none. After each change of screen its heading
// takes the focus.

import { Anchor, Button } from '@mantine/core';
import { useQueryErrorResetBoundary } from '@tanstack/react-query';
import { Ban, Compass, UserX } from 'lucide-react';
import { Component, type ReactNode, Suspense, useEffect, useRef } from 'react';
import { Link, Redirect, Route, Switch, useLocation } from 'wouter';
import { Empty } from '../parts/empty.tsx';
import { Failure } from '../parts/failure.tsx';
import { Loading } from '../parts/loading.tsx';
import { HEADING_ID, PageHeader } from '../parts/page-header.tsx';
import { CallFailed } from '../session/api.ts';
import { useAccount, useSession } from '../session/session.tsx';
import { roleLabel } from '../team/roles.ts';
import { screens } from './screens.ts';
import { signOut } from './sign-out.ts';
import { maySee } from './visible-screens.ts';

/**
 * Focuses the heading of the new screen as soon as it is there; until then the focus stays on what
 * was pressed.
 */
function useHeadingFocus(location: string) {
  const last = useRef(location);
  const wentBack = useRef(false);
  useEffect(() => {
    const onBack = () => {
      wentBack.current = true;
    };
    window.addEventListener('popstate', onBack);
    return () => window.removeEventListener('popstate', onBack);
  }, []);
  useEffect(() => {
    if (last.current === location) return;
    last.current = location;
    // Who goes back wants to be where they were; the browser sees to that.
    if (!wentBack.current) window.scrollTo(0, 0);
    wentBack.current = false;
    const focusIt = () => {
      const heading = document.getElementById(HEADING_ID);
      heading?.focus({ preventScroll: true });
      return heading !== null;
    };
    if (focusIt()) return;
    const watch = new MutationObserver(() => {
      if (focusIt()) watch.disconnect();
    });
    watch.observe(document.body, { childList: true, subtree: true });
    return () => watch.disconnect();
  }, [location]);
}

interface Props {
  children: ReactNode;
  onReset(): void;
}

class ScreenBoundary extends Component<Props, { error: Error | undefined }> {
  override state = { error: undefined as Error | undefined };

  static getDerivedStateFromError(thrown: unknown) {
    return { error: thrown instanceof Error ? thrown : new Error(String(thrown)) };
  }

  override render() {
    const { error } = this.state;
    if (!error) return this.props.children;
    const retry = () => {
      // What could not be loaded stays missing until the page itself is loaded again.
      if (!(error instanceof CallFailed)) return location.reload();
      this.props.onReset();
      this.setState({ error: undefined });
    };
    return <Failure error={error} retry={retry} title="This screen could not be shown" />;
  }
}

export function CurrentScreen() {
  const [location] = useLocation();
  const session = useSession();
  const { reset } = useQueryErrorResetBoundary();
  useHeadingFocus(location);
  const { account, me } = session;
  if (!account && location === '/' && me.user.operator)
    return <Redirect to="/operator/accounts" replace />;
  return (
    <ScreenBoundary key={`${account?.id} ${location}`} onReset={reset}>
      <Suspense fallback={<Loading rows={6} />}>
        <Switch>
          {screens.map(screen => {
            const { path, component: Component } = screen;
            return (
              <Route key={path} path={path}>
                {maySee(screen, session) ? (
                  <Component />
                ) : screen.section === 'operator' ? (
                  <NotOperator />
                ) : account ? (
                  <NotAllowed />
                ) : (
                  <NoAccount />
                )}
              </Route>
            );
          })}
          <Route>
            <NotFound />
          </Route>
        </Switch>
      </Suspense>
    </ScreenBoundary>
  );
}

function NotFound() {
  return (
    <>
      <PageHeader title="Not found" />
      <Empty icon={Compass} title="There is no such screen">
        The link may be old.{' '}
        <Anchor component={Link} href="/" inherit underline="always">
          Go to the start
        </Anchor>
      </Empty>
    </>
  );
}

function NotAllowed() {
  const account = useAccount();
  return (
    <>
      <PageHeader title="Not for your role" />
      <Empty icon={Ban} title={`Your role in ${account.name} is ${roleLabel(account.role)}`}>
        It does not show this screen. An owner or admin of the account can change your role.
      </Empty>
    </>
  );
}

function NotOperator() {
  return (
    <>
      <PageHeader title="For operators" />
      <Empty icon={Ban} title="You are not an operator of this installation">
        Only those who run it see this screen. One of them can make you an operator.
      </Empty>
    </>
  );
}

function NoAccount() {
  return (
    <>
      <PageHeader title="No account" />
      <Empty icon={UserX} title="You are not a member of an account">
        <p>
          Ask an owner or admin of an account to invite you. If they did, open the link that they
          sent you.
        </p>
        <Button variant="default" onClick={() => void signOut()}>
          Sign out
        </Button>
      </Empty>
    </>
  );
}
