// Opens the accounts of a MongoDB for one command.
import { Accounts } from '../api/accounts/accounts.ts';
import type { Plan } from '../api/accounts/plans.ts';
import { readApiConfig } from '../api/config.ts';
import { connectStore, type Store } from '../api/store/store.ts';
import { silentLog } from '../common/log.ts';
import { CliError } from './failure.ts';

/** The work of a command on the accounts of an installation. */
export type Work<T> = (
  accounts: Accounts,
  /** `secret` returns PRESSROOM_SECRET. It rejects with CliError when it is not set. */
  installation: { store: Store; plans: readonly Plan[]; secret(): Promise<string> },
) => Promise<T>;

export interface OpenDatabase {
  uri: string;
  pepper: string;
  secret(): Promise<string>;
}

const CONNECT_TIMEOUT_MS = 5_000;

/**
 * Runs `work` on the accounts in `uri`, with the plans and peppers of `env`; without peppers there,
 * with `pepper`. Throws CliError when MongoDB does not respond.
 */
export async function onAccounts<T>(
  { uri, pepper, secret }: OpenDatabase,
  env: NodeJS.ProcessEnv,
  work: Work<T>,
): Promise<T> {
  const store = connectStore({ uri, operationTimeoutMs: 3_000 }, silentLog);
  const signal = AbortSignal.timeout(CONNECT_TIMEOUT_MS);
  try {
    await store.start(signal);
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new CliError(`MongoDB does not respond: ${(error as Error).message}`, 1, error);
  }
  try {
    const { plans, peppers, billing } = readApiConfig(env);
    return await work(
      new Accounts(store, { plans, peppers: peppers.length > 0 ? peppers : [pepper], billing }),
      {
        store,
        plans,
        secret,
      },
    );
  } finally {
    await store.stop(AbortSignal.timeout(5_000));
  }
}
