// Whether the pages of an account may reach the operator's allow-list of internal addresses: asked
// before a render without a key, to tell the caller early.
import { databaseUnreachable } from '../../accounts/account-errors.ts';
import type { Store } from '../../store/store.ts';

/**
 * Throws ApiError `render_failed`/`database`. The guard of the worker decides by what the admission
 * says.
 */
export async function mayReachIntranet(store: Store, accountId: string): Promise<boolean> {
  const found = await store
    .limited(
      store.accounts.findOne({ _id: accountId }, { projection: { intranet: 1 }, ...store.limits }),
    )
    .catch(cause => {
      throw databaseUnreachable(cause);
    });
  return found?.intranet ?? false;
}
