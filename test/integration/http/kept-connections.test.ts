import { once } from 'node:events';
import { expect } from 'chai';
import { WebSocketServer } from 'ws';
import { type ConnectionsOptions, createConnections } from '../../../api/workers/connections.ts';
import { openSession, type Session } from '../../../api/workers/session.ts';
import { eventually } from '../../support/eventually.ts';

const soon = () => AbortSignal.timeout(10_000);

describe('idle slot connections', () => {
  /** The gateway's side of a slot. Answers PING and OPEN with `answer` and END with `{}`. */
  async function gateway(answer: object, closesOnOpen = false) {
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
    let upgrades = 0;
    let ends = 0;
    server.on('connection', socket => {
      upgrades++;
      socket.on('message', data => {
        const { id, method } = JSON.parse(String(data));
        if (method === 'Pressroom.open' && closesOnOpen) return socket.close(1_001);
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
    const stub = await gateway(answer);
    const connections = createConnections(options);
    try {
      await test(stub, () => openSession(connections)(stub.address, 'ticket', soon()));
    } finally {
      await connections.stop(soon());
      await stub.close();
    }
  }

  const keeping = { frameId: 'A', keeps: true };

  it('does not pass events of the previous slot to the next render', () =>
    withGateway(keeping, {}, async ({ upgrades, ends }, open) => {
      const received: string[] = [];
      for (const name of ['first', 'second']) {
        const session = await open();
        session.on('Page.loadEventFired', () => received.push(name));
        session.close();
        await eventually(() => expect(ends()).to.equal(name === 'first' ? 1 : 2));
      }
      await eventually(async () => {
        const third = await open();
        third.on('Page.loadEventFired', () => received.push('third'));
        third.close();
        expect(ends()).to.be.greaterThan(2);
      });
      expect(upgrades()).to.be.at.most(2);
      expect(received).to.deep.equal([]);
    }));

  it('resolves abandon() only when the worker closes the connection of an ended slot', () =>
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
      // Opening another slot takes long enough for a premature resolution to show.
      const other = await open();
      expect(abandoned).to.equal(false);
      socket!.close(4_000);
      await abandoning;
      other.close();
    }));

  it('reports SlotRejected when the connection closes during OPEN and connects again on the next call', async () => {
    const stub = await gateway(keeping, true);
    const connections = createConnections();
    const open = () => openSession(connections)(stub.address, 'ticket', soon());
    try {
      (await open()).close();
      const error = await eventually(async () => {
        const outcome = await open().catch(error => error);
        if (!(outcome instanceof Error)) outcome.close();
        expect(outcome).to.be.instanceOf(Error);
        return outcome as Error;
      });
      expect(error.name).to.equal('SlotRejected');
      (await open()).close();
    } finally {
      await connections.stop(soon());
      await stub.close();
    }
  });

  it('closes the connection after the slot when the worker does not support reuse', () =>
    withGateway({ frameId: 'A' }, {}, async ({ server }, open) => {
      (await open()).close();
      await eventually(() => expect(server.clients.size).to.equal(0));
    }));

  it('closes a connection that stays idle too long', () =>
    withGateway(keeping, { keptMs: 50 }, async ({ server }, open) => {
      (await open()).close();
      await eventually(() => expect(server.clients.size).to.equal(0));
    }));

  it('opens a new connection after the worker closed the idle one', () =>
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
