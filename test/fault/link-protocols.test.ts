import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { MongoClient, type MongoClientOptions } from 'mongodb';
import { WebSocket, WebSocketServer } from 'ws';
import { eventually } from '../support/eventually.ts';
import { testDatabase, testMongod } from '../support/servers/mongod.ts';
import { commandOf } from './harness/frames.ts';
import { type Link, openLink } from './harness/link.ts';
import { connectPeer, startPeers } from './harness/peer.ts';

describe('the test link with a protocol', () => {
  const closing: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });
  async function opened(...args: Parameters<typeof openLink>): Promise<Link> {
    const link = await openLink(...args);
    closing.push(link.close);
    return link;
  }

  describe('of MongoDB', () => {
    const collection = 'links';
    let link: Link;
    let through: MongoClient;
    let straight: MongoClient;
    async function client(uri: string, options: MongoClientOptions = {}): Promise<MongoClient> {
      const made = await MongoClient.connect(uri, options);
      closing.push(() => made.close());
      return made;
    }
    let uriThrough: string;
    const options = { directConnection: true, retryWrites: false };
    beforeEach(async () => {
      const [{ port }, { uri }] = [await testMongod(), await testDatabase()];
      link = await opened(port, 'mongodb');
      uriThrough = uri.replace(`:${port}/`, `:${link.port}/`);
      straight = await client(uri);
      through = await client(uriThrough, options);
    });
    const documents = () =>
      straight
        .db()
        .collection(collection)
        .find({}, { projection: { _id: 0 } })
        .toArray();
    const insert = (text: string, from = through) =>
      from.db().collection(collection).insertOne({ text });
    const failed = (work: Promise<unknown>) =>
      work.then(
        () => expect.fail('the call succeeded'),
        (error: Error) => error.name,
      );
    const is = (command: string) => (message: Buffer) => commandOf(message) === command;

    it('cuts the connection before a response, after the command was executed', async () => {
      const rule = link.onFrame({
        direction: 'down',
        matches: (_, { before }) => is('insert')(before!),
        do: 'cut',
        times: 1,
      });
      expect(await failed(insert('done'))).to.equal('MongoNetworkError');
      expect(rule.hits()).to.equal(1);
      expect(await documents()).to.deep.equal([{ text: 'done' }]);
      await insert('and again');
    });

    it('loses a command, which is not executed and gets no response', async () => {
      const impatient = await client(uriThrough, { ...options, socketTimeoutMS: 500 });
      link.onFrame({ direction: 'up', matches: is('insert'), do: 'lose', times: 1 });
      expect(await failed(insert('lost', impatient))).to.equal('MongoNetworkTimeoutError');
      expect(await documents()).to.deep.equal([]);
    });

    it('duplicates a command, which is executed twice', async () => {
      await insert('counted');
      link.onFrame({ direction: 'up', matches: is('update'), do: 'duplicate', times: 1 });
      // How the driver handles the second response does not matter here.
      await through
        .db()
        .collection(collection)
        .updateOne({ text: 'counted' }, { $inc: { count: 1 } });
      await eventually(async () =>
        expect(await documents()).to.deep.equal([{ text: 'counted', count: 2 }]),
      );
    });

    it('rewrites a message', async () => {
      const rewrite = (message: Buffer) =>
        Buffer.from(message.toString('latin1').replace('aaaa', 'bbbb'), 'latin1');
      link.onFrame({ direction: 'up', matches: is('insert'), do: { rewrite }, times: 1 });
      await insert('aaaa');
      expect(await documents()).to.deep.equal([{ text: 'bbbb' }]);
    });

    it('passes on a partial message and the end of the stream', async () => {
      const target = await startPeers();
      closing.push(target.close);
      const near = await connectPeer((await opened(target.port, 'mongodb')).port);
      closing.push(() => near.socket.destroy());
      near.socket.end('ten bytes.');
      await eventually(() =>
        expect(target.peers.map(far => [far.received(), far.state()])).to.deep.equal([
          ['ten bytes.', 'ended'],
        ]),
      );
    });

    it('passes large messages unchanged', async () => {
      const text = randomBytes(1_000_000).toString('hex');
      await insert(text);
      expect((await through.db().collection(collection).findOne())!['text'] === text).to.equal(
        true,
      );
    });
  });

  describe('of WebSockets', () => {
    let server: WebSocketServer;
    let link: Link;
    beforeEach(async () => {
      server = new WebSocketServer({
        host: '127.0.0.1',
        port: 0,
        verifyClient: ({ req }: { req: IncomingMessage }) => req.url !== '/rejected',
      });
      await once(server, 'listening');
      closing.push(() => {
        for (const each of server.clients) each.terminate();
        return new Promise(resolve => server.close(resolve));
      });
      link = await opened((server.address() as AddressInfo).port, 'websocket');
    });
    /** Both ends of a connection, and the messages each has received. */
    async function open(greeting?: string) {
      const accepted = once(server, 'connection');
      server.once('connection', socket => greeting && socket.send(greeting));
      const client = new WebSocket(`ws://127.0.0.1:${link.port}/slot`, {
        perMessageDeflate: false,
      });
      closing.push(() => client.terminate());
      client.on('error', () => {});
      const received: { client: string[]; server: string[] } = { client: [], server: [] };
      client.on('message', data => received.client.push(data.toString()));
      const [[served]] = (await Promise.all([accepted, once(client, 'open')])) as unknown as [
        [WebSocket],
        unknown,
      ];
      served.on('message', data => received.server.push(data.toString())).on('error', () => {});
      return { client, served, received };
    }
    const has = (text: string) => (frame: Buffer) => frame.includes(text);

    it('passes data that arrives with the upgrade, and a rejected upgrade unchanged', async () => {
      const { received } = await open('welcome');
      await eventually(() => expect(received.client).to.deep.equal(['welcome']));
      const rejected = new WebSocket(`ws://127.0.0.1:${link.port}/rejected`);
      const [error] = (await once(rejected, 'error')) as [Error];
      expect(error.message).to.include('401');
    });

    it('loses one of several messages of any length, in either direction', async () => {
      const { client, served, received } = await open();
      const texts = ['short', 'm'.repeat(300), 'lost', 'l'.repeat(200_000), 'end'];
      const rule = link.onFrame({ direction: 'both', matches: has('lost'), do: 'lose' });
      for (const text of texts) {
        client.send(text);
        served.send(text);
      }
      const rest = texts.filter(text => text !== 'lost');
      await eventually(() => expect(received.server).to.deep.equal(rest));
      await eventually(() => expect(received.client).to.deep.equal(rest));
      expect(rule.hits()).to.equal(2);
    });

    it('distinguishes pings from messages', async () => {
      const { client, received } = await open();
      const pings = link.onFrame({
        direction: 'up',
        matches: (_, { opcode }) => opcode === 9,
        do: 'lose',
      });
      let pongs = 0;
      client.on('pong', () => pongs++);
      client.ping('a');
      client.send('message');
      await eventually(() => expect(received.server).to.deep.equal(['message']));
      expect(pings.hits()).to.equal(1);
      pings.remove();
      client.ping('b');
      await eventually(() => expect(pongs).to.equal(1));
    });

    it('delivers one message twice, and cuts the connection before another', async () => {
      const { client, received } = await open();
      link.onFrame({ direction: 'up', matches: has('twice'), do: 'duplicate' });
      link.onFrame({ direction: 'up', matches: has('cut'), do: 'cut' });
      for (const text of ['twice', 'one', 'two', 'three', 'cut', 'never']) client.send(text);
      const [code] = await once(client, 'close');
      expect(code).to.equal(1006);
      await eventually(() =>
        expect(received.server).to.deep.equal(['twice', 'twice', 'one', 'two', 'three']),
      );
    });

    it('rewrites messages of the same length, in either direction', async () => {
      const { client, served, received } = await open();
      const rewrite = (frame: Buffer) => Buffer.from(frame.toString().replace('old', 'new'));
      link.onFrame({ direction: 'both', matches: has('old'), do: { rewrite } });
      client.send('an old question');
      served.send(`an old answer ${'.'.repeat(200)}`);
      await eventually(() => expect(received.server).to.deep.equal(['an new question']));
      await eventually(() =>
        expect(received.client).to.deep.equal([`an new answer ${'.'.repeat(200)}`]),
      );
    });
  });
});
