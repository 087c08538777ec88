// Names of an account's API keys, for renders and usage. A revoked key has no name, only its id.
import { keysOf } from '../accounts/account-keys.ts';
import type { KeyDocument, Store } from '../store/store.ts';

export interface NamedKey {
  id: string;
  name: string | null;
  last4: string | null;
}

export type KeyNames = (id: string) => NamedKey;

/** The projection of the account's document. */
export const NAMES_OF_KEYS = Object.fromEntries(
  ['keys', 'restrictedKeys'].flatMap(list =>
    ['id', 'name', 'last4'].map(field => [`${list}.${field}`, 1] as const),
  ),
);

/** Finds a key by id; an unknown id has no name. Pure. */
export function namesOf(keys: readonly Pick<KeyDocument, 'id' | 'name' | 'last4'>[]): KeyNames {
  const known = new Map(keys.map(key => [key.id, key]));
  return id => ({ id, name: known.get(id)?.name ?? null, last4: known.get(id)?.last4 ?? null });
}

/** The same for all keys of the account. */
export async function keyNames(store: Store, account: string): Promise<KeyNames> {
  const found = await store.limited(
    store.accounts.findOne({ _id: account }, { projection: NAMES_OF_KEYS, ...store.limits }),
  );
  return namesOf(found ? keysOf(found) : []);
}
