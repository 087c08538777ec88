// The screens: path, name in the navigation, who sees it. Each is loaded when it is first opened.
import { lazy } from 'react';
import type { Permission } from '../../api/console/contract/permissions.ts';

export interface Screen {
  /** Below /app; also its patterns. */
  path: string;
  /** In the navigation; absent for screens that are reached from another one. */
  label?: string;
  section: 'account' | 'settings' | 'operator' | 'personal';
  permission?: Permission;
  component: ReturnType<typeof lazy>;
}

export const screens: Screen[] = [
  { path: '/', label: 'Home', section: 'account', permission: 'account.read', component: lazy(() => import('./home.tsx')) },
  { path: '/keys', label: 'API keys', section: 'account', permission: 'keys.read', component: lazy(() => import('./keys.tsx')) },
  {
    path: '/playground',
    label: 'Playground',
    section: 'account',
    permission: 'playground.render',
    component: lazy(() => import('./playground.tsx')),
  },
  {
    path: '/renders',
    label: 'Renders',
    section: 'account',
    permission: 'renders.read',
    component: lazy(() => import('./renders.tsx')),
  },
  { path: '/renders/:id', section: 'account', permission: 'renders.read', component: lazy(() => import('./render.tsx')) },
  { path: '/usage', label: 'Usage', section: 'account', permission: 'usage.read', component: lazy(() => import('./usage.tsx')) },
  { path: '/connect', label: 'Connect', section: 'account', component: lazy(() => import('./connect.tsx')) },
  { path: '/team', label: 'Team', section: 'settings', permission: 'team.read', component: lazy(() => import('./team.tsx')) },
  {
    path: '/billing',
    label: 'Plan & billing',
    section: 'settings',
    permission: 'billing.read',
    component: lazy(() => import('./billing.tsx')),
  },
  {
    path: '/audit',
    label: 'Audit log',
    section: 'settings',
    permission: 'audit.read',
    component: lazy(() => import('./audit.tsx')),
  },
  {
    path: '/settings',
    label: 'Account settings',
    section: 'settings',
    permission: 'account.rename',
    component: lazy(() => import('./settings.tsx')),
  },
  { path: '/profile', section: 'personal', component: lazy(() => import('./profile.tsx')) },
  { path: '/operator/accounts', label: 'Accounts', section: 'operator', component: lazy(() => import('./operator-accounts.tsx')) },
  { path: '/operator/people', label: 'People', section: 'operator', component: lazy(() => import('./operator-people.tsx')) },
  { path: '/operator/live', label: 'Workers & queue', section: 'operator', component: lazy(() => import('./operator-live.tsx')) },
  {
    path: '/operator/audit',
    label: 'Installation’s audit log',
    section: 'operator',
    component: lazy(() => import('./operator-audit.tsx')),
  },
  { path: '/operator/health', label: 'Health', section: 'operator', component: lazy(() => import('./operator-health.tsx')) },
];
