// The signed-in user and the selected account, provided to every screen.
import { createContext, useContext } from 'react';
import type { Permission } from '../../api/console/contract/permissions.ts';
import type { Me } from '../../api/console/contract/users.ts';

export interface DashboardSession {
  me: Me;
  /** The selected account. Undefined for a user who is not a member of any account. */
  account: Me['accounts'][number] | undefined;
  openAccount(id: string): void;
}

export const SessionContext = createContext<DashboardSession | undefined>(undefined);

export function useSession(): DashboardSession {
  const session = useContext(SessionContext);
  if (!session) throw new Error('This component needs a SessionContext.');
  return session;
}

/** The selected account. Only for screens that require one. */
export function useAccount() {
  const { account } = useSession();
  if (!account) throw new Error('No account is selected.');
  return account;
}

/** Whether to show a control. The server enforces the permission. */
export function useMay(permission: Permission): boolean {
  return useSession().account?.permissions.includes(permission) ?? false;
}
