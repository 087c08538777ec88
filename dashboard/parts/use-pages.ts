// A list that comes in pages, newest first: what has been read so far, and how to read on.
import { type QueryKey, useInfiniteQuery } from '@tanstack/react-query';
import { get, queryOf } from '../session/api.ts';

interface Page<T> {
  items: T[];
  next: string | null;
}

/** `more` is what DataTable takes. */
export function usePages<T>(
  queryKey: QueryKey,
  path: string,
  filter: Record<string, string | undefined> = {},
) {
  const query = useInfiniteQuery({
    queryKey: [...queryKey, filter],
    queryFn: ({ pageParam, signal }) =>
      get<Page<T>>(`${path}${queryOf({ ...filter, cursor: pageParam })}`, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: page => page.next ?? undefined,
  });
  return {
    rows: query.data?.pages.flatMap(({ items }) => items),
    error: query.error,
    retry: () => void query.refetch(),
    more: {
      has: query.hasNextPage,
      busy: query.isFetchingNextPage,
      load: () => void query.fetchNextPage(),
    },
  };
}
