// A query that caches the answer of one GET to the management API.
import { type QueryKey, type UseQueryOptions, useQuery } from '@tanstack/react-query';
import { get } from './api.ts';

export const useGet = <T>(
  queryKey: QueryKey,
  path: string,
  options: Omit<UseQueryOptions<T>, 'queryKey' | 'queryFn'> = {},
) => useQuery<T>({ ...options, queryKey, queryFn: ({ signal }) => get<T>(path, signal) });
