// Looks up the names of accounts by their ids.
import type { Store } from '../../store/store.ts';

/** By id, sorted by name; deleted accounts are missing. */
export async function accountNames(
  { accounts, limited, limits }: Store,
  ids: readonly string[],
): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const found = await limited(
    accounts
      .find({ _id: { $in: [...ids] } }, { projection: { name: 1 }, sort: { name: 1 }, ...limits })
      .toArray(),
  );
  return new Map(found.map(({ _id, name }) => [_id, name]));
}
