// Which screens a user can open, and the icon of each in the navigation.
import {
  Activity,
  BookKey,
  ChartColumn,
  CreditCard,
  FileClock,
  FileText,
  FlaskConical,
  HeartPulse,
  House,
  KeyRound,
  type LucideIcon,
  Plug,
  ScrollText,
  Settings,
  UserCog,
  Users,
} from 'lucide-react';
import type { DashboardSession } from '../session/session.tsx';
import { type Screen, screens } from './screens.ts';

export const ICONS: Record<string, LucideIcon> = {
  '/': House,
  '/keys': KeyRound,
  '/playground': FlaskConical,
  '/renders': FileText,
  '/async-renders': FileClock,
  '/usage': ChartColumn,
  '/connect': Plug,
  '/team': Users,
  '/billing': CreditCard,
  '/audit': ScrollText,
  '/settings': Settings,
  '/operator/accounts': BookKey,
  '/operator/people': UserCog,
  '/operator/live': Activity,
  '/operator/audit': ScrollText,
  '/operator/health': HeartPulse,
};

export const SECTION_TITLES: Partial<Record<Screen['section'], string>> = {
  account: 'Account',
  settings: 'Settings',
  operator: 'Installation',
};

export function maySee(
  { section, permission }: Screen,
  { me, account }: DashboardSession,
): boolean {
  if (section === 'personal') return true;
  if (section === 'operator') return me.user.operator;
  return (
    account !== undefined && (permission === undefined || account.permissions.includes(permission))
  );
}

/** The screens of this installation. */
export const existingScreens = ({ me }: DashboardSession) =>
  screens.filter(({ asyncRenders }) => !asyncRenders || me.installation.asyncRenders);

/** The screens of the navigation, in order. */
export const shownScreens = (session: DashboardSession) =>
  existingScreens(session).filter(screen => screen.label !== undefined && maySee(screen, session));
