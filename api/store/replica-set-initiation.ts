// Initiates a replica set of one member, with one user, on a fresh mongod, and points the set at
// its new port when that has changed. Run as a program it does this beside the chart's bundled
// mongod, in the same pod, because mongod allows it from its own machine only; then it waits to be
// stopped.
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

/** Asks every 10 ms: the server has no event for it. */
async function untilWritable(admin: Db): Promise<void> {
  for (const end = performance.now() + 30_000; performance.now() < end; await sleep(10)) {
    if ((await admin.command({ hello: 1 }))['isWritablePrimary']) return;
  }
  throw new Error('mongod did not become a writable primary within 30 s.');
}

const login = (port: number, password: string) =>
  withAdmin(port, { username: USER, password, source: 'admin' }, untilWritable);

/**
 * The localhost exception allows this until there is a user. Every step may have been done already
 * by a start that was killed.
 */
const initiate = (port: number, password: string, host: string) =>
  withAdmin(port, undefined, async admin => {
    const config = { _id: SET_NAME, members: [{ _id: 0, host }] };
    await admin.command({ replSetInitiate: config }).catch(unless(ALREADY_INITIALIZED));
    await untilWritable(admin);
    await admin.command({ createUser: USER, pwd: password, roles: ['root'] });
  });

/**
 * Brings the mongod at `port` to a writable primary with the user in it; `initiated`: an earlier
 * start has completed, `host` where the clients of a fresh set will find its member. Throws an
 * Error when the data belong to another password.
 */
export async function initiateReplicaSet(
  port: number,
  password: string,
  initiated: boolean,
  host = memberAt(port),
): Promise<void> {
  // Refused when an earlier start came as far as the user: then all is done.
  if (!initiated) await initiate(port, password, host).catch(unless(UNAUTHORIZED));
  try {
    await login(port, password);
  } catch (error) {
    if (codeOf(error) !== AUTHENTICATION_FAILED) throw error;
    throw new Error(
      'mongod refuses the password kept beside its data: bring both back from the same backup.',
      { cause: error },
    );
  }
}

/**
 * Writes the member's new address into the data. The mongod at `port` must run alone, without
 * `--replSet`: as a member that does not find its own address in the configuration it would wait
 * for the others for ever (seen on 6.0). Only the set's internal user, whose password is the
 * keyfile, may write there.
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
  MONGODB_MEMBER: textVariable(undefined, 'host:port').describe('Where clients find the member.'),
  MONGODB_PASSWORD: secret(16).describe("The user's password."),
});

function required(env: NodeJS.ProcessEnv): { member: string; port: number; password: string } {
  const { MONGODB_MEMBER: member, MONGODB_PASSWORD: password } = readConfig(variables, env);
  if (member === undefined || password === undefined)
    throw new ConfigError('MONGODB_MEMBER and MONGODB_PASSWORD are needed');
  const port = Number(/^[^:]+:(\d+)$/.exec(member)?.[1]);
  if (!port) throw new ConfigError(`MONGODB_MEMBER=${member}: must be host:port`);
  return { member, port, password };
}

/**
 * The program: retries until mongod answers, then waits for a signal. After a restart it finds
 * everything done.
 */
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
        // Any long time will do: only the signal ends it.
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
