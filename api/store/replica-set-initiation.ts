// Makes a fresh mongod a replica set of one with one user, and points the set at its new port when that has changed. Speaks to mongod as its administrator.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Db, MongoClient, MongoServerError } from 'mongodb';
import { SET_NAME, USER } from './replica-set-names.ts';

const ALREADY_INITIALIZED = 23;
const UNAUTHORIZED = 13;
const AUTHENTICATION_FAILED = 18;

const codeOf = (error: unknown): unknown => (error instanceof MongoServerError ? error.code : undefined);

const unless = (code: number) => (error: unknown) => {
  if (codeOf(error) !== code) throw error;
};

interface Credentials {
  username: string;
  password: string;
  source: 'admin' | 'local';
}

const memberAt = (port: number) => `127.0.0.1:${port}`;

async function withAdmin<T>(port: number, as: Credentials | undefined, work: (admin: Db) => Promise<T>): Promise<T> {
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

const login = (port: number, password: string) => withAdmin(port, { username: USER, password, source: 'admin' }, untilWritable);

/** The localhost exception allows this until there is a user. Every step may have been done already by a start that was killed. */
const found = (port: number, password: string, host: string) =>
  withAdmin(port, undefined, async admin => {
    const config = { _id: SET_NAME, members: [{ _id: 0, host }] };
    await admin.command({ replSetInitiate: config }).catch(unless(ALREADY_INITIALIZED));
    await untilWritable(admin);
    await admin.command({ createUser: USER, pwd: password, roles: ['root'] });
  });

/**
 * Brings the mongod at `port` to a writable primary with the user in it; `founded` tells that an earlier start came to its end, `host` where the clients of a
 * fresh set will find its member. Throws an Error when the data belong to another password.
 */
export async function readyReplicaSet(port: number, password: string, founded: boolean, host = memberAt(port)): Promise<void> {
  // Refused when an earlier start came as far as the user: then all is done.
  if (!founded) await found(port, password, host).catch(unless(UNAUTHORIZED));
  try {
    await login(port, password);
  } catch (error) {
    if (codeOf(error) !== AUTHENTICATION_FAILED) throw error;
    throw new Error('mongod refuses the password kept beside its data: bring both back from the same backup.', { cause: error });
  }
}

/**
 * Writes the member's new address into the data. The mongod at `port` must run alone, without `--replSet`: as a member that does not find its own address in the
 * configuration it would wait for the others for ever (seen on 6.0). Only the set's internal user, whose password is the keyfile, may write there.
 */
export async function moveMember(port: number, keyFileText: string): Promise<void> {
  const internal: Credentials = { username: '__system', password: keyFileText.trim(), source: 'local' };
  await withAdmin(port, internal, async admin => {
    const config = admin.client.db('local').collection('system.replset');
    await config.updateMany({}, { $set: { 'members.0.host': memberAt(port) }, $inc: { version: 1 } });
  });
}
