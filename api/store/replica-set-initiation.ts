// Initiates a replica set of one member with one user on a fresh mongod, and updates the member's
// port when it has changed. As a program it is a sidecar of the chart's bundled mongod, because
// mongod allows this from localhost only; it then waits for a signal.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Db, MongoClient, MongoServerError } from 'mongodb';
import { z } from 'zod';
import { ConfigError, readConfig, secret, textVariable } from '../../common/config.ts';
import { createLog } from '../../common/log.ts';
import { isDatabaseUnavailable } from './failures.ts';
import { SET_NAME, USER } from './replica-set-names.ts';

const ALREADY_INITIALIZED = 23;
const UNAUTHORIZED = 13;
const AUTHENTICATION_FAILED = 18;

const codeOf = (error: unknown): unknown =>
  error instanceof MongoServerError ? error.code : undefined;

const unless = (code: number) => (error: unknown) => {
  if (codeOf(error) !== code) throw error;
};

interface Credentials {
  username: string;
  password: string;
  source: 'admin' | 'local';
}

const memberAt = (port: number) => `127.0.0.1:${port}`;

async function withAdmin<T>(
  port: number,
  as: Credentials | undefined,
  work: (admin: Db) => Promise<T>,
): Promise<T> {
  const client = new MongoClient(`mongodb://${memberAt(port)}/`, {
    directConnection: true,
    serverSelectionTimeoutMS: 10_000,
    ...(as && { auth: { username: as.username, password: as.password }, authSource: as.source }),
  });
  try {
    return await work(client.db('admin'));
  } finally {
    await client.close();
  }
}

/** Polls every 10 ms, because the server has no event for it. */
async function untilWritable(admin: Db): Promise<void> {
  for (const end = performance.now() + 30_000; performance.now() < end; await sleep(10)) {
    if ((await admin.command({ hello: 1 }))['isWritablePrimary']) return;
  }
  throw new Error('mongod did not become a writable primary within 30 s.');
}

const login = (port: number, password: string) =>
  withAdmin(port, { username: USER, password, source: 'admin' }, untilWritable);

/**
 * The localhost exception allows this until a user exists. A start that was killed may already have
 * done some of the steps.
 */
const initiate = (port: number, password: string, host: string) =>
  withAdmin(port, undefined, async admin => {
    const config = { _id: SET_NAME, members: [{ _id: 0, host }] };
    await admin.command({ replSetInitiate: config }).catch(unless(ALREADY_INITIALIZED));
    await untilWritable(admin);
    await admin.command({ createUser: USER, pwd: password, roles: ['root'] });
  });

/**
 * Makes the mongod at `port` a writable primary with the user. `initiated`: an earlier start has
 * completed this. `host`: the member's address for clients. Throws an Error when the data was
 * created with another password.
 */
export async function initiateReplicaSet(
  port: number,
  password: string,
  initiated: boolean,
  host = memberAt(port),
): Promise<void> {
  // UNAUTHORIZED: an earlier start has created the user, so everything is done.
  if (!initiated) await initiate(port, password, host).catch(unless(UNAUTHORIZED));
  try {
    await login(port, password);
  } catch (error) {
    if (codeOf(error) !== AUTHENTICATION_FAILED) throw error;
    throw new Error(
      'mongod rejected the password stored with its data. Restore both from the same backup.',
      { cause: error },
    );
  }
}

/**
 * Writes the member's new address into the data. The mongod at `port` must run without `--replSet`:
 * a member that does not find its own address in the configuration waits forever (seen on 6.0).
 * Only the internal user, whose password is the keyfile, may write there.
 */
export async function moveMember(port: number, keyFileText: string): Promise<void> {
  const internal: Credentials = {
    username: '__system',
    password: keyFileText.trim(),
    source: 'local',
  };
  await withAdmin(port, internal, async admin => {
    const config = admin.client.db('local').collection('system.replset');
    await config.updateMany(
      {},
      { $set: { 'members.0.host': memberAt(port) }, $inc: { version: 1 } },
    );
  });
}

const RETRY_MS = 500;

const variables = z.object({
  MONGODB_MEMBER: textVariable(undefined, 'host:port').describe(
    'Address of the member for clients.',
  ),
  MONGODB_PASSWORD: secret(16).describe('Password of the user.'),
});

function required(env: NodeJS.ProcessEnv): { member: string; port: number; password: string } {
  const { MONGODB_MEMBER: member, MONGODB_PASSWORD: password } = readConfig(variables, env);
  if (member === undefined || password === undefined)
    throw new ConfigError('MONGODB_MEMBER and MONGODB_PASSWORD are required.');
  const port = Number(/^[^:]+:(\d+)$/.exec(member)?.[1]);
  if (!port) throw new ConfigError(`MONGODB_MEMBER=${member}: must be host:port.`);
  return { member, port, password };
}

/** The program: retries until mongod answers, then waits for a signal. Safe to restart. */
async function main(): Promise<void> {
  const log = createLog('info', 'found-set');
  const stopped = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stopped.abort());
  const pause = (ms: number) => sleep(ms, undefined, { signal: stopped.signal }).catch(() => {});
  try {
    const { member, port, password } = required(process.env);
    while (!stopped.signal.aborted) {
      try {
        await initiateReplicaSet(port, password, false, member);
        log.info({ member }, 'the replica set is ready');
        // Any long pause: only a signal ends it.
        while (!stopped.signal.aborted) await pause(86_400_000);
      } catch (error) {
        if (!isDatabaseUnavailable(error)) throw error;
        await pause(RETRY_MS);
      }
    }
  } catch (error) {
    if (error instanceof ConfigError) console.error(error.message);
    else log.fatal({ err: error }, 'the replica set could not be initiated');
    process.exitCode = 1;
  }
}

if (import.meta.main) await main();
