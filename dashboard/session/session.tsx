// Who is signed in and which account is open, for every screen.
import { createContext, useContext } from 'react';
import type { Permission } from '../../api/console/contract/permissions.ts';
import type { Me } from '../../api/console/contract/users.ts';

export interface DashboardSession {
  me: Me;
  /** The account that is open. Undefined for an operator who is a member of none. */
  account: Me['accounts'][number] | undefined;
  openAccount(id: string): void;
}

export const SessionContext = createContext<DashboardSession | undefined>(undefined);

export function useSession(): DashboardSession {
  const session = useContext(SessionContext);
  if (!session) throw new Error('no session around this component');
  return session;
}

/** The open account. Only on screens that the shell shows when there is one. */
export function useAccount() {
  const { account } = useSession();
  if (!account) throw new Error('no account is open');
  return account;
}

/** Whether to offer it; the server decides. */
export function useMay(permission: Permission): boolean {
  return useSession().account?.permissions.includes(permission) ?? false;
}
