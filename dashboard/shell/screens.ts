// All screens: path, navigation label, required permission. Each is loaded when first opened.
import { lazy } from 'react';
import type { Permission } from '../../api/console/contract/permissions.ts';

export interface Screen {
  /** Below /app; a route pattern of wouter. */
  path: string;
  /** Navigation label. Absent for screens that only other screens link to. */
  label?: string;
  section: 'account' | 'settings' | 'operator' | 'personal';
  permission?: Permission;
  /** Only where the installation has asynchronous renders on. */
  asyncRenders?: true;
  component: ReturnType<typeof lazy>;
}

export const screens: Screen[] = [
  {
    path: '/',
    label: 'Home',
    section: 'account',
    permission: 'account.read',
    component: lazy(() => import('../home/home-screen.tsx')),
  },
  {
    path: '/keys',
    label: 'API keys',
    section: 'account',
    permission: 'keys.read',
    component: lazy(() => import('../keys/keys-screen.tsx')),
  },
  {
    path: '/playground',
    label: 'Playground',
    section: 'account',
    permission: 'playground.render',
    component: lazy(() => import('../playground/playground-screen.tsx')),
  },
  {
    path: '/renders',
    label: 'Renders',
    section: 'account',
    permission: 'renders.read',
    component: lazy(() => import('../renders/renders-screen.tsx')),
  },
  {
    path: '/renders/:id',
    section: 'account',
    permission: 'renders.read',
    component: lazy(() => import('../renders/render-screen.tsx')),
  },
  {
    path: '/async-renders',
    label: 'Asynchronous renders',
    section: 'account',
    permission: 'renders.read',
    asyncRenders: true,
    component: lazy(() => import('../async-renders/async-renders-screen.tsx')),
  },
  {
    path: '/async-renders/:id',
    section: 'account',
    permission: 'renders.read',
    asyncRenders: true,
    component: lazy(() => import('../async-renders/async-render-screen.tsx')),
  },
  {
    path: '/usage',
    label: 'Usage',
    section: 'account',
    permission: 'usage.read',
    component: lazy(() => import('../usage/usage-screen.tsx')),
  },
  {
    path: '/connect',
    label: 'Connect',
    section: 'account',
    component: lazy(() => import('../connect/connect-screen.tsx')),
  },
  {
    path: '/team',
    label: 'Team',
    section: 'settings',
    permission: 'team.read',
    component: lazy(() => import('../team/team-screen.tsx')),
  },
  {
    path: '/billing',
    label: 'Plan & billing',
    section: 'settings',
    permission: 'billing.read',
    component: lazy(() => import('../billing/billing-screen.tsx')),
  },
  {
    path: '/audit',
    label: 'Audit log',
    section: 'settings',
    permission: 'audit.read',
    component: lazy(() => import('../audit/audit-screen.tsx')),
  },
  {
    path: '/settings',
    label: 'Account settings',
    section: 'settings',
    permission: 'account.rename',
    component: lazy(() => import('../team/account-settings-screen.tsx')),
  },
  {
    path: '/profile',
    section: 'personal',
    component: lazy(() => import('../profile/profile-screen.tsx')),
  },
  {
    path: '/operator/accounts',
    label: 'Accounts',
    section: 'operator',
    component: lazy(() => import('../operator/accounts-screen.tsx')),
  },
  {
    path: '/operator/people',
    label: 'Users',
    section: 'operator',
    component: lazy(() => import('../operator/users-screen.tsx')),
  },
  {
    path: '/operator/live',
    label: 'Workers & queue',
    section: 'operator',
    component: lazy(() => import('../operator/live-screen.tsx')),
  },
  {
    path: '/operator/audit',
    label: 'Installation audit log',
    section: 'operator',
    component: lazy(() => import('../operator/operator-audit-screen.tsx')),
  },
  {
    path: '/operator/health',
    label: 'Health',
    section: 'operator',
    component: lazy(() => import('../operator/health-screen.tsx')),
  },
];
