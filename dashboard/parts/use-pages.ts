// A cursor-paginated list: the rows loaded so far and a function to load more.
import { type QueryKey, useInfiniteQuery } from '@tanstack/react-query';
import { get, queryOf } from '../session/api.ts';

interface Page<T> {
  items: T[];
  next: string | null;
}

export type Pages = ReturnType<typeof usePages<unknown>>;

/**
 * `more` has the shape of DataTable's property of that name. `refetchMs`: when to load the pages again,
 * if at all.
 */
export function usePages<T>(
  queryKey: QueryKey,
  path: string,
  filter: Record<string, string | undefined> = {},
  refetchMs: (pages: Page<T>[]) => number | false = () => false,
) {
  const query = useInfiniteQuery({
    queryKey: [...queryKey, filter],
    queryFn: ({ pageParam, signal }) =>
      get<Page<T>>(`${path}${queryOf({ ...filter, cursor: pageParam })}`, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: page => page.next ?? undefined,
    refetchInterval: ({ state }) => refetchMs(state.data?.pages ?? []),
  });
  return {
    query,
    rows: query.data?.pages.flatMap(({ items }) => items),
    more: {
      has: query.hasNextPage,
      busy: query.isFetchingNextPage,
      load: () => void query.fetchNextPage(),
    },
  };
}
