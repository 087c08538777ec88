// Creates the account of the first start and its API key, which is shown once.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ApiConfig } from '../api/config.ts';
import type { Log } from '../common/log.ts';
import { writePrivate } from './state.ts';

/** Eight concurrent renders, so that the machine is the limit of an evaluation, not the plan. */
const PLAN = 'scale';
export const FIRST_ACCOUNT = 'default';

/** Describes the plan of the first account and the concurrency of this machine. */
export function aboutFirstAccount(plans: ApiConfig['plans'], slots: number): string {
  const parallel = plans.find(({ name }) => name === PLAN)?.parallel ?? slots;
  const account = `Created account \`${FIRST_ACCOUNT}\` on the ${PLAN} plan (${parallel} concurrent renders).`;
  return parallel > slots
    ? `${account} This machine runs ${slots} at a time and queues the rest (PRESSROOM_SLOTS).`
    : account;
}

/**
 * Creates the account `default` and a key, unless this is not the first start of the data folder or
 * the database has accounts. Returns the key, which is not stored in plain text, or undefined.
 */
export async function makeFirstAccount(
  dataDir: string,
  uri: string,
  config: Pick<ApiConfig, 'plans' | 'peppers'>,
  log: Log,
): Promise<string | undefined> {
  const mark = join(dataDir, 'first-account-made');
  if (existsSync(mark)) return undefined;
  // Loaded here because only a first start needs them.
  const [{ Accounts }, { accountCreated, createAudit, keyCreated }, { connectStore }] =
    await Promise.all([
      import('../api/accounts/accounts.ts'),
      import('../api/console/security/audit.ts'),
      import('../api/store/store.ts'),
    ]);
  const store = connectStore({ uri, operationTimeoutMs: 5_000 }, log);
  await store.start();
  try {
    const accounts = new Accounts(store, config);
    let text: string | undefined;
    if ((await accounts.listAccounts()).length === 0) {
      const account = await accounts.createAccount(FIRST_ACCOUNT, { plan: PLAN });
      const created = await accounts.createKey(FIRST_ACCOUNT, { name: 'first start' });
      const { note } = createAudit(store);
      const actor = { account: account.id, actor: 'first start' };
      await note(actor, accountCreated(account));
      await note(actor, keyCreated(created.key));
      text = created.text;
    }
    await writePrivate(mark, `${new Date().toISOString()}\n`);
    return text;
  } finally {
    await store.stop(AbortSignal.timeout(5_000));
  }
}
