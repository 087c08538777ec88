// The names of an account's keys, for what was done with them. A key that was revoked has none any
// more: it is shown by its id.
import type { KeyDocument, Store } from '../../store/store.ts';

export interface NamedKey {
  id: string;
  name: string | null;
  last4: string | null;
}

export type KeyNames = (id: string) => NamedKey;

/** What is read of the keys in an account's document. */
export const NAMES_OF_KEYS = { 'keys.id': 1, 'keys.name': 1, 'keys.last4': 1 } as const;

/** By the id of a key, whether it is among these or not. Pure. */
export function namesOf(keys: readonly Pick<KeyDocument, 'id' | 'name' | 'last4'>[]): KeyNames {
  const known = new Map(keys.map(key => [key.id, key]));
  return id => ({ id, name: known.get(id)?.name ?? null, last4: known.get(id)?.last4 ?? null });
}

/** The same for all keys of the account. */
export async function keyNames(store: Store, account: string): Promise<KeyNames> {
  const found = await store.limited(
    store.accounts.findOne({ _id: account }, { projection: NAMES_OF_KEYS, ...store.limits }),
  );
  return namesOf(found?.keys ?? []);
}
