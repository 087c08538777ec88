// The overview query of the selected account, shared by the home screen and the account banner.
import { useQuery } from '@tanstack/react-query';
import type { Overview } from '../../api/console/contract/accounts.ts';
import { get } from './api.ts';
import { useAccount } from './session.tsx';

/** Refetched every `refetchInterval` milliseconds while the tab is visible. */
export function useOverview({ refetchInterval }: { refetchInterval: number }) {
  const { id } = useAccount();
  return useQuery({
    queryKey: ['overview', id],
    queryFn: ({ signal }) => get<Overview>(`/accounts/${id}/overview`, signal),
    refetchInterval,
  });
}
