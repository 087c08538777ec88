// The first start gives the person something to try: an account and its key, shown once.
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { ApiConfig } from '../api/config.ts';
import type { Log } from '../common/log.ts';
import { writePrivate } from './state.ts';

/** Eight renders at once: a trial on one machine should meet the machine's limits, not a plan's. */
const PLAN = 'scale';
export const FIRST_ACCOUNT = 'default';

/**
 * Describes the plan of the first account, and how many of its renders this machine runs at once.
 */
export function aboutFirstAccount(plans: ApiConfig['plans'], slots: number): string {
  const parallel = plans.find(({ name }) => name === PLAN)?.parallel ?? slots;
  const waits =
    parallel > slots
      ? `; this machine runs ${slots} of them, the others wait (PRESSROOM_SLOTS)`
      : '';
  return `The account \`${FIRST_ACCOUNT}\` has the plan ${PLAN}: ${parallel} renders at once${waits}.`;
}

/**
 * Makes the account `default` and a key, unless this data folder has had its first start or the
 * database has accounts. Gives the key's text, which is stored nowhere, or undefined.
 */
export async function makeFirstAccount(
  dataDir: string,
  uri: string,
  config: Pick<ApiConfig, 'plans' | 'peppers'>,
  log: Log,
): Promise<string | undefined> {
  const mark = join(dataDir, 'first-account-made');
  const made = await access(mark).then(
    () => true,
    () => false,
  );
  if (made) return undefined;
  // Only a first start needs them here.
  const [{ Accounts }, { connectStore }] = await Promise.all([
    import('../api/accounts/accounts.ts'),
    import('../api/store/store.ts'),
  ]);
  const store = connectStore({ uri, operationTimeoutMs: 5_000 }, log);
  await store.start();
  try {
    const accounts = new Accounts(store, config);
    const fresh = (await accounts.listAccounts()).length === 0;
    if (fresh) await accounts.createAccount(FIRST_ACCOUNT, { plan: PLAN });
    const key = fresh
      ? (await accounts.createKey(FIRST_ACCOUNT, { name: 'first start' })).text
      : undefined;
    await writePrivate(mark, `${new Date().toISOString()}\n`);
    return key;
  } finally {
    await store.stop(AbortSignal.timeout(5_000));
  }
}
