// The overview query of the selected account, shared by the home screen and the account banner.
import type { Overview } from '../../api/console/contract/accounts.ts';
import { useAccount } from './session.tsx';
import { useGet } from './use-get.ts';

/** Refetched every `refetchInterval` milliseconds while the tab is visible. */
export function useOverview({ refetchInterval }: { refetchInterval: number }) {
  const { id } = useAccount();
  return useGet<Overview>(['overview', id], `/accounts/${id}/overview`, { refetchInterval });
}
