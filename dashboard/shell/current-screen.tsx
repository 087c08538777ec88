// The screen of the current path, or a page that explains why it cannot be shown. Moves the focus
// to the heading after each navigation.
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
import { signOut } from './sign-out.ts';
import { existingScreens, maySee } from './visible-screens.ts';

/** Focuses the heading of the new screen once it is rendered. */
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
    // On Back and Forward the browser restores the scroll position.
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
      // A failed import of a screen's module is cached until the page is reloaded.
      if (!(error instanceof CallFailed)) return location.reload();
      this.props.onReset();
      this.setState({ error: undefined });
    };
    return <Failure error={error} retry={retry} title="Could not load this page" />;
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
          {existingScreens(session).map(screen => {
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
      <PageHeader title="Page not found" />
      <Empty icon={Compass} title="This page does not exist">
        The link may be outdated.{' '}
        <Anchor component={Link} href="/" inherit underline="always">
          Go to Home
        </Anchor>
      </Empty>
    </>
  );
}

function NotAllowed() {
  const account = useAccount();
  return (
    <>
      <PageHeader title="Access denied" />
      <Empty icon={Ban} title={`Your role in ${account.name} is ${roleLabel(account.role)}`}>
        This role cannot view this page. An owner or admin of the account can change your role.
      </Empty>
    </>
  );
}

function NotOperator() {
  return (
    <>
      <PageHeader title="Access denied" />
      <Empty icon={Ban} title="Administrators only">
        You need administrator access to view this page. Ask an administrator of this installation.
      </Empty>
    </>
  );
}

function NoAccount() {
  return (
    <>
      <PageHeader title="No account" />
      <Empty icon={UserX} title="You are not a member of any account">
        <p>
          Ask an owner or admin to invite you. If you already have an invitation link, open it to
          join.
        </p>
        <Button variant="default" onClick={() => void signOut()}>
          Sign out
        </Button>
      </Empty>
    </>
  );
}
