import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import { MongoClient, MongoServerError } from 'mongodb';
import { pino } from 'pino';
import { SCHEMA_VERSION } from '../../../api/store/migrations.ts';
import { unsuitable } from '../../../api/store/server-check.ts';
import {
  connectStore,
  DatabaseTimeout,
  isDatabaseUnavailable,
  type Store,
} from '../../../api/store/store.ts';
import { silentLog } from '../../../common/log.ts';
import { freeze } from '../../support/freeze.ts';
import { freshMongod, testDatabase } from '../../support/servers/mongod.ts';

const never = new AbortController().signal;
const failure = (work: Promise<unknown>): Promise<Error> =>
  work.then(
    () => expect.fail('it did not fail'),
    error => error,
  );

describe('the store', () => {
  const stores: Store[] = [];
  const storeOn = (uri: string, log = silentLog, operationTimeoutMs = 500) => {
    const store = connectStore({ uri, operationTimeoutMs }, log);
    stores.push(store);
    return store;
  };
  afterEach(async () => {
    for (const store of stores.splice(0)) await store.stop(never);
  });

  it('migrates an empty database once when two replicas start together, and is safe to repeat', async () => {
    const { uri } = await testDatabase();
    const [one, two] = [storeOn(uri, silentLog, 5_000), storeOn(uri, silentLog, 5_000)];
    await Promise.all([one.start(), two.start()]);
    expect(await one.meta.findOne({ _id: 'schema' })).to.include({ version: SCHEMA_VERSION });
    expect((await two.accounts.indexes()).find(index => index['name'] === 'name')).to.include({
      unique: true,
    });
    await storeOn(uri, silentLog, 5_000).start();
  });

  it('migrates a database of the first release and keeps its data', async () => {
    const { uri, name } = await testDatabase();
    const client = await MongoClient.connect(uri);
    const db = client.db(name);
    await db.collection('meta').insertOne({ _id: 'schema' as never, version: 1 });
    await db.collection('accounts').insertOne({ name: 'kept' });
    const store = storeOn(uri, silentLog, 5_000);
    await store.start();
    expect(await store.meta.findOne({ _id: 'schema' })).to.include({ version: SCHEMA_VERSION });
    expect(
      (await store.trialLimits.indexes()).find(index => index['name'] === 'expires'),
    ).to.include({ expireAfterSeconds: 0 });
    expect(await store.accounts.findOne({ name: 'kept' })).to.not.equal(null);
    await client.close();
  });

  it('does not change a database that a newer release has migrated', async () => {
    const { uri, name } = await testDatabase();
    const client = await MongoClient.connect(uri);
    await client
      .db(name)
      .collection('meta')
      .insertOne({ _id: 'schema' as never, version: 99 });
    await storeOn(uri).start();
    expect(
      await client
        .db(name)
        .collection('accounts')
        .indexes()
        .catch(() => []),
    ).to.deep.equal([]);
    await client.close();
  });

  it('waits for a replica that migrates, and takes over when it has died', async () => {
    const { uri, name } = await testDatabase();
    const client = await MongoClient.connect(uri);
    const until = new Date(Date.now() + 700);
    await client
      .db(name)
      .collection('meta')
      .insertOne({ _id: 'migration' as never, owner: 'a dead one', until });
    const store = storeOn(uri);
    await store.start();
    expect(Date.now()).to.be.at.least(until.getTime());
    expect(await store.meta.findOne({ _id: 'schema' })).to.include({ version: SCHEMA_VERSION });
    await client.close();
  });

  it('uses the database `pressroom` when the URI names none', async () => {
    expect(storeOn('mongodb://127.0.0.1:1/?replicaSet=x').accounts.dbName).to.equal('pressroom');
    expect(storeOn('mongodb://127.0.0.1:1/other?replicaSet=x').accounts.dbName).to.equal('other');
    expect(storeOn('mongodb://127.0.0.1:1/test').accounts.dbName).to.equal('test');
  });

  it('rejects an invalid URI without showing its password', () => {
    expect(() =>
      connectStore({ uri: 'mongo://user:hidden@host', operationTimeoutMs: 500 }, silentLog),
    )
      .to.throw('MONGODB_URI is invalid')
      .with.property('message')
      .that.does.not.contain('hidden');
  });

  it('fails to start with a wrong password', async () => {
    const { uri } = await testDatabase();
    const error = await failure(storeOn(uri.replace(/:[^:@/]+@/, ':wrong@')).start());
    expect(error.message).to.match(
      /^MongoDB rejected the user name or password in MONGODB_URI.*`pressroom`.*`admin` \(authSource\)\.$/,
    );
  });

  it('rejects servers that are too old or not part of a replica set', () => {
    const replicaSet = { setName: 'rs' };
    expect(unsuitable(replicaSet, { version: '6.0.5', versionArray: [6, 0, 5, 0] })).to.equal(
      undefined,
    );
    expect(
      unsuitable({ msg: 'isdbgrid' }, { version: '8.0.1', versionArray: [8, 0, 1, 0] }),
    ).to.equal(undefined);
    expect(unsuitable(replicaSet, { version: '5.0.9', versionArray: [5, 0, 9, 0] }))
      .to.contain('5.0.9 is too old')
      .and.contain('6.0');
    expect(unsuitable({}, { version: '7.0.1', versionArray: [7, 0, 1, 0] }))
      .to.contain('replica set')
      .and.contain('rs.initiate()');
  });

  it('distinguishes an outage from a bug', () => {
    expect(isDatabaseUnavailable(new DatabaseTimeout(1))).to.equal(true);
    expect(
      isDatabaseUnavailable(new MongoServerError({ message: 'not primary', code: 10107 })),
    ).to.equal(true);
    expect(
      isDatabaseUnavailable(new MongoServerError({ message: 'duplicate', code: 11000 })),
    ).to.equal(false);
    expect(isDatabaseUnavailable(new TypeError('ours'))).to.equal(false);
  });

  describe('with an unavailable database', () => {
    let dataDir: string;
    before(async () => {
      dataDir = await mkdtemp(join(tmpdir(), 'pressroom-test-store-'));
    });
    after(() => rm(dataDir, { recursive: true, force: true, maxRetries: 5 }));

    it('logs that it waits, stops waiting on abort, and starts when the database is up', async () => {
      const first = await freshMongod({ dataDir });
      await first.stop();
      const lines = new PassThrough();
      const store = storeOn(first.uri, pino({}, lines), 400);
      const started = store.start();
      const [line] = await once(lines, 'data');
      expect(JSON.parse(line)).to.include({ msg: 'MongoDB is not responding, waiting for it' });
      expect(String(line)).to.contain(`127.0.0.1:${first.port}`);

      const abort = new AbortController();
      const aborted = failure(storeOn(first.uri, silentLog, 400).start(abort.signal));
      abort.abort(new Error('stopping'));
      await aborted;

      const second = await freshMongod({ dataDir });
      await started;
      await store.ping(1_000);
      await second.stop();
    });

    it('limits operations and pings that a frozen server does not answer', async () => {
      const mongod = await freshMongod();
      const store = storeOn(mongod.uri, silentLog, 400);
      await store.start();
      try {
        await freeze(mongod.pid);
        const errors = [
          await failure(store.ping(200)),
          await failure(store.limited(store.accounts.findOne({ _id: 'x' }, store.limits))),
        ];
        expect(errors.map(isDatabaseUnavailable)).to.deep.equal([true, true]);
      } finally {
        process.kill(mongod.pid, 'SIGCONT');
        await mongod.stop();
      }
    });
  });
});
