import { once } from 'node:events';
import { expect } from 'chai';
import { WebSocketServer } from 'ws';
import { type ConnectionsOptions, createConnections } from '../../../api/workers/connections.ts';
import { openSession, type Session } from '../../../api/workers/session.ts';
import { eventually } from '../../support/eventually.ts';

const soon = () => AbortSignal.timeout(10_000);

describe('a socket that is kept', () => {
  /** A gateway's side of a slot: answers PING and OPEN as it is told, END with nothing. */
  async function gateway(answer: object, closesUnderOpen = false) {
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
    let upgrades = 0;
    let ends = 0;
    server.on('connection', socket => {
      upgrades++;
      socket.on('message', data => {
        const { id, method } = JSON.parse(String(data));
        if (method === 'Pressroom.open' && closesUnderOpen) return socket.close(1_001);
        if (method === 'Pressroom.end') {
          ends++;
          socket.send(JSON.stringify({ method: 'Page.loadEventFired', params: { timestamp: 0 } }));
        }
        socket.send(JSON.stringify({ id, result: method === 'Pressroom.end' ? {} : answer }));
      });
    });
    await once(server, 'listening');
    return {
      server,
      address: `ws://127.0.0.1:${(server.address() as { port: number }).port}`,
      upgrades: () => upgrades,
      ends: () => ends,
      close: () => {
        for (const socket of server.clients) socket.terminate();
        return new Promise(resolve => server.close(resolve));
      },
    };
  }

  async function withGateway(
    answer: object,
    options: ConnectionsOptions,
    test: (of: Awaited<ReturnType<typeof gateway>>, open: () => Promise<Session>) => Promise<void>,
  ) {
    const there = await gateway(answer);
    const connections = createConnections(options);
    try {
      await test(there, () => openSession(connections)(there.address, 'ticket', soon()));
    } finally {
      await connections.stop(soon());
      await there.close();
    }
  }

  const keeping = { frameId: 'A', keeps: true };

  it('says nothing to the next render of what came while the slot before ended', () =>
    withGateway(keeping, {}, async ({ upgrades, ends }, open) => {
      const heard: string[] = [];
      for (const name of ['first', 'second']) {
        const session = await open();
        session.on('Page.loadEventFired', () => heard.push(name));
        session.close();
        await eventually(() => expect(ends()).to.equal(name === 'first' ? 1 : 2));
      }
      await eventually(async () => {
        const third = await open();
        third.on('Page.loadEventFired', () => heard.push('third'));
        third.close();
        expect(ends()).to.be.greaterThan(2);
      });
      expect(upgrades()).to.be.at.most(2);
      expect(heard).to.deep.equal([]);
    }));

  it('ends a render that its worker has ended only when the page is gone, of which its closing tells', () =>
    withGateway(keeping, {}, async ({ server }, open) => {
      const session = await open();
      const [socket] = [...server.clients];
      socket!.send(
        JSON.stringify({
          method: 'Pressroom.ended',
          params: { reason: 'deadline', message: 'too long' },
        }),
      );
      expect(await session.ended).to.deep.equal({ reason: 'deadline', message: 'too long' });
      let abandoned = false;
      const abandoning = session.abandon().then(() => {
        abandoned = true;
      });
      // A second command of the same socket is answered before anything else can have happened to
      // the first.
      const other = await open();
      expect(abandoned).to.equal(false);
      socket!.close(4_000);
      await abandoning;
      other.close();
    }));

  it('leaves its worker to be asked again at once when it closes as a slot is asked for', async () => {
    const there = await gateway(keeping, true);
    const connections = createConnections();
    const open = () => openSession(connections)(there.address, 'ticket', soon());
    try {
      (await open()).close();
      const error = await eventually(async () => {
        const outcome = await open().catch(error => error);
        if (!(outcome instanceof Error)) outcome.close();
        expect(outcome).to.be.instanceOf(Error);
        return outcome as Error;
      });
      expect(error.name).to.equal('SlotRefused');
      (await open()).close();
    } finally {
      await connections.stop(soon());
      await there.close();
    }
  });

  it('belongs to a worker that says that it can', () =>
    withGateway({ frameId: 'A' }, {}, async ({ server }, open) => {
      (await open()).close();
      await eventually(() => expect(server.clients.size).to.equal(0));
    }));

  it('is closed when nothing was opened on it for a while', () =>
    withGateway(keeping, { keptMs: 50 }, async ({ server }, open) => {
      (await open()).close();
      await eventually(() => expect(server.clients.size).to.equal(0));
    }));

  it('is forgotten when the worker closes it', () =>
    withGateway(keeping, {}, async ({ server, upgrades }, open) => {
      (await open()).close();
      const [socket] = [...server.clients];
      socket!.close(1_001);
      await once(socket!, 'close');
      await eventually(async () => {
        (await open()).close();
        expect(upgrades()).to.equal(2);
      });
    }));
});
