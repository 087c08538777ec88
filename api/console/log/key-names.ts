// The names of an account's keys, for what was done with them. A key that was revoked has none any more: it is shown by its id.
import type { Store } from '../../store/store.ts';

export interface NamedKey {
  id: string;
  name: string | null;
  last4: string | null;
}

export type KeyNames = (id: string) => NamedKey;

/** By the id of a key, whether it is there or not. */
export async function keyNames(store: Store, account: string): Promise<KeyNames> {
  const found = await store.limited(
    store.accounts.findOne({ _id: account }, { projection: { 'keys.id': 1, 'keys.name': 1, 'keys.last4': 1 }, ...store.limits }),
  );
  const known = new Map(found?.keys.map(key => [key.id, key]));
  return id => ({ id, name: known.get(id)?.name ?? null, last4: known.get(id)?.last4 ?? null });
}
