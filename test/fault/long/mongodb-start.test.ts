// The start of an API when MongoDB is down, silent, another service, too old, without a replica
// set, or rejects the login: it waits for temporary causes and exits with a message for others.
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { type MongodProcess, spawnMongod } from '../../../standalone/mongod-process.ts';
import { eventually } from '../../support/eventually.ts';
import { httpCall } from '../../support/http-call.ts';
import { mongodBinary, testMongod } from '../../support/servers/mongod.ts';
import { startCluster } from '../harness/cluster.ts';
import { commandOf } from '../harness/frames.ts';
import { type Link, openLink } from '../harness/link.ts';
import { asMongoDb5, asWireVersion8 } from '../harness/old-mongod.ts';
import { ownPort } from '../harness/ports.ts';
import { type PressroomProcess, startPressroom } from '../harness/pressroom-process.ts';

const WAITS = 'MongoDB is not responding, waiting for it';

describe('the start of an API', function () {
  this.timeout(120_000);
  const open: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of open.splice(0).reverse()) await close();
  });

  /** An API without workers. */
  async function startApi(
    mongodbUri: string,
  ): Promise<{ process: PressroomProcess; port: number }> {
    const [port, operationsPort, unused] = [await ownPort(), await ownPort(), await ownPort()];
    const process = startPressroom('api', 'the API', operationsPort, {
      PRESSROOM_HOST: '127.0.0.1',
      PRESSROOM_PORT: String(port),
      PRESSROOM_PEPPER: 'a pepper of the scenarios',
      PRESSROOM_POOL_SECRET: 'a pool secret of the scenarios',
      PRESSROOM_WORKERS: `ws://127.0.0.1:${unused}`,
      PRESSROOM_DRAIN_DELAY: '0s',
      MONGODB_URI: mongodbUri,
    });
    open.push(() => process.kill());
    return { process, port };
  }

  /** The message with which it exits. */
  async function lastWords(mongodbUri: string): Promise<string> {
    const { process } = await startApi(mongodbUri);
    expect(await process.exited).to.equal(1);
    const { level, err } = process.log.find(({ msg }) => msg === 'could not start')!;
    expect(level).to.equal('fatal');
    return (err as Error).message;
  }

  async function expectWaiting(
    api: PressroomProcess,
    members: Record<string, RegExp>,
  ): Promise<void> {
    const line = await api.logLine(WAITS);
    expect(line.level).to.equal('warn');
    const problems = line['members'] as Record<string, string>;
    expect(problems).to.have.all.keys(Object.keys(members));
    for (const [member, expected] of Object.entries(members))
      expect(problems[member]).to.match(expected);
    expect([await api.probe('/livez'), await api.probe('/readyz')]).to.deep.equal([200, 503]);
  }

  /** A plain TCP server instead of MongoDB. */
  async function imposter(
    meet: (socket: Socket) => void,
  ): Promise<{ server: Server; uri: string; host: string; met: () => number }> {
    let met = 0;
    const sockets = new Set<Socket>();
    const server = createServer(socket => {
      met += 1;
      sockets.add(socket);
      meet(socket.on('error', () => {}));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    open.push(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    return { server, host, uri: `mongodb://${host}/pressroom?replicaSet=rs`, met: () => met };
  }

  it('waits for a MongoDB that is down, logs it, and becomes ready with it', async () => {
    const cluster = await startCluster();
    open.push(() => cluster.stop());
    const member = cluster.members[0]!;
    await member.kill();
    const { process, port } = await startApi(cluster.uri);
    await expectWaiting(process, { [`127.0.0.1:${member.port}`]: /ECONNREFUSED/ });
    await member.start();
    const back = await process.logLine('MongoDB is responding');
    expect(back['members']).to.deep.equal({ [`127.0.0.1:${member.port}`]: 'is the primary' });
    await process.untilReady();
    const { checks } = JSON.parse((await httpCall(port, 'GET', '/readyz')).body.toString());
    expect(checks).to.deep.equal({ database: { status: 'ok' }, workers: { ready: 0, slots: 0 } });
  });

  it('exits with code 0 at once when it is stopped while it waits', async () => {
    const silent = await imposter(() => {});
    const { process } = await startApi(silent.uri);
    await once(silent.server, 'connection');
    const startMs = performance.now();
    expect(await process.kill('SIGTERM')).to.equal(0);
    // The driver alone would delay the exit by 5 s.
    expect(performance.now() - startMs).to.be.lessThan(3_000);
  });

  const imposters: Record<string, (socket: Socket) => void> = {
    'says nothing': () => {},
    'hangs up at once': socket => socket.destroy(),
    'speaks something else': socket =>
      socket.on('data', () => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n')),
    'speaks garbage': socket => socket.on('data', () => socket.write(Buffer.alloc(64, 1))),
    'sends impossible lengths': socket =>
      socket.on('data', () => socket.write(Buffer.alloc(64, 0xff))),
  };
  it('waits without a reconnect storm when another service listens', async () => {
    const all = await Promise.all(
      Object.entries(imposters).map(async ([does, meet]) => {
        const met = await imposter(meet);
        const { process } = await startApi(met.uri);
        await expectWaiting(process, { [met.host]: /./ });
        return { does, process, met, lines: process.log.length, connections: met.met() };
      }),
    );
    const startMs = performance.now();
    for (const { does, process, met, lines, connections } of all) {
      await eventually(() => expect(process.log.length - lines, does).to.be.at.least(2), 60_000);
      const seconds = (performance.now() - startMs) / 1_000;
      expect(process.alive(), does).to.equal(true);
      expect(process.log.length - lines, does).to.be.at.most(2 + seconds);
      // The driver checks twice a second.
      expect(met.met() - connections, does).to.be.at.most(10 + 3 * seconds);
      expect(await process.kill('SIGTERM'), does).to.equal(0);
    }
  });

  it('exits with a message when MongoDB rejects or requires a login, or the user lacks permission', async () => {
    const { uri, port } = await testMongod();
    const admin = await MongoClient.connect(uri);
    open.push(() => admin.close());
    await admin.db('admin').command({
      createUser: 'reader',
      pwd: 'a password',
      roles: [{ role: 'read', db: 'elsewhere' }],
    });
    const [wrong, none, reader] = await Promise.all([
      lastWords(uri.replace(/:[^:@/]+@/, ':not-the-password@')),
      lastWords(`mongodb://127.0.0.1:${port}/pressroom?replicaSet=pressroom`),
      lastWords(
        `mongodb://reader:${encodeURIComponent('a password')}@127.0.0.1:${port}/pressroom?authSource=admin&replicaSet=pressroom`,
      ),
    ]);
    expect(wrong)
      .to.contain('MongoDB rejected the user name or password')
      .and.contain('`pressroom`')
      .and.not.contain('not-the-password');
    expect(none).to.contain('MongoDB requires a login');
    expect(reader)
      .to.contain('The MongoDB user `reader` may not use the database `pressroom`')
      .and.contain('readWrite');
  });

  describe('with an unsupported server', () => {
    let link: Link;
    let uri: string;
    beforeEach(async () => {
      const cluster = await startCluster();
      open.push(() => cluster.stop());
      link = await openLink(cluster.members[0]!.port, 'mongodb');
      open.push(() => link.close());
      uri = cluster.uriThrough(link.port);
    });

    it('exits with a message when its version is too old', async () => {
      const rule = link.onFrame({
        direction: 'down',
        matches: (_frame, { before }) => before !== undefined && commandOf(before) === 'buildInfo',
        do: { rewrite: asMongoDb5 },
      });
      expect(await lastWords(uri)).to.match(
        /MongoDB 5\.[\d.]+ is too old\. Pressroom requires MongoDB 6\.0 or newer/,
      );
      expect(rule.hits()).to.equal(1);
    });

    it('exits with a message when the driver does not support its version', async () => {
      link.onFrame({
        direction: 'down',
        matches: frame => frame.includes('maxWireVersion\0'),
        do: { rewrite: asWireVersion8 },
      });
      expect(await lastWords(uri)).to.match(/requires MongoDB 6\.0 or newer.*wire version 8/);
    });
  });

  it('exits with a message without a replica set, or waits for one that the URI names', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'pressroom-fault-'));
    open.push(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
    const port = await ownPort();
    const args = ['--port', String(port), '--bind_ip', '127.0.0.1', '--nounixsocket', '--quiet'];
    const alone: MongodProcess = await spawnMongod(
      (await mongodBinary()).path,
      args,
      folder,
      join(folder, 'mongod.log'),
    );
    open.push(() => alone.stop(0));
    expect(await lastWords(`mongodb://127.0.0.1:${port}/pressroom`))
      .to.contain('is not part of a replica set')
      .and.contain('rs.initiate()');
    const { process } = await startApi(`mongodb://127.0.0.1:${port}/pressroom?replicaSet=rs`);
    await expectWaiting(process, {
      [`127.0.0.1:${port}`]: /is not a member of the replica set `rs`/,
    });
  });
});
