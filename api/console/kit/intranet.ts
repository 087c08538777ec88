// Whether the pages of an account may open addresses on the allowlist. Checked before a render
// without a key, so that the error is early.
import { databaseUnreachable } from '../../accounts/account-errors.ts';
import type { Store } from '../../store/store.ts';

/** Throws ApiError `render_failed`/`database`. The worker's egress guard relies on the admission. */
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
