// Opens the database for a command: MONGODB_URI, the managed mongod of a running standalone, or the
// managed mongod started for this command.
import { join } from 'node:path';
import { readApiConfig } from '../api/config.ts';
import { takeLock } from '../standalone/lock.ts';
import { managedUri, startMongod } from '../standalone/mongod.ts';
import { findOrInstallMongod } from '../standalone/mongod-binary.ts';
import type { Notify } from '../standalone/run-command.ts';
import { dataFolder, keepSecret, MONGOD_FOLDER, openDataFolder } from '../standalone/state.ts';
import { CliError } from './failure.ts';
import { type OpenDatabase, onAccounts, type Work } from './on-accounts.ts';

interface Database extends OpenDatabase {
  close(): Promise<void>;
}

/**
 * The managed mongod of the data folder: that of the running standalone, otherwise started here.
 * Waits while another command uses it.
 */
async function managedDatabase(
  folder: string,
  env: NodeJS.ProcessEnv,
  notify: Notify,
): Promise<Omit<Database, 'secret'>> {
  await openDataFolder(folder);
  const pepper = await keepSecret(folder, 'pepper');
  for (;;) {
    const lock = await takeLock(folder, 'command');
    if (lock.held) {
      try {
        const mongod = await startMongod({
          binary: (await findOrInstallMongod(env, notify)).path,
          dataDir: join(folder, MONGOD_FOLDER),
        });
        return { uri: mongod.uri, pepper, close: () => mongod.stop().finally(lock.release) };
      } catch (error) {
        await lock.release();
        throw error;
      }
    }
    if (lock.role === 'standalone' && (await lock.untilReady)) {
      lock.disconnect();
      const uri = await managedUri(join(folder, MONGOD_FOLDER));
      if (!uri)
        throw new CliError(
          `The running Pressroom in ${folder} (process ${lock.pid}) uses an external MongoDB. Set MONGODB_URI to the same value.`,
        );
      return { uri, pepper, close: async () => {} };
    }
    await lock.untilGone;
  }
}

async function openDatabase(env: NodeJS.ProcessEnv, notify: Notify): Promise<Database> {
  const { mongodbUri, pepper, dashboard } = readApiConfig(env);
  const folder = dataFolder(env);
  const kept = async (name: 'pepper' | 'secret') => keepSecret(await openDataFolder(folder), name);
  const secret = async () => dashboard.secret ?? (await kept('secret'));
  if (!mongodbUri) return { ...(await managedDatabase(folder, env, notify)), secret };
  return {
    uri: mongodbUri,
    pepper: pepper ?? (await kept('pepper')),
    secret,
    close: async () => {},
  };
}

/**
 * Runs `work` on the accounts of the installation that `env` describes, and closes the database
 * afterwards. Passes on errors of `work`.
 */
export async function withAccounts<T>(
  env: NodeJS.ProcessEnv,
  notify: Notify,
  work: Work<T>,
): Promise<T> {
  const database = await openDatabase(env, notify);
  try {
    return await onAccounts(database, env, work);
  } finally {
    await database.close();
  }
}
