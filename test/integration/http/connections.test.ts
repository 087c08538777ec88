import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { parseTrustedProxies } from '../../../api/http/caller.ts';
import type { HttpConfig } from '../../../api/http/server.ts';
import { eventually } from '../../support/eventually.ts';
import { httpSuite } from '../../support/http-suite.ts';

describe('connections per address', () => {
  const suite = httpSuite();
  let sockets: Socket[] = [];
  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    sockets = [];
  });

  const serve = async (server: Partial<HttpConfig> = {}) => {
    await suite.serve({ server: { maxConnections: 8, ...server } });
  };
  async function open(localAddress: string): Promise<Socket> {
    const socket = connect({ port: suite.http.server.port(), host: '127.0.0.1', localAddress });
    sockets.push(socket);
    socket.on('error', () => {});
    await once(socket, 'connect');
    return socket;
  }
  const isServed = async (socket: Socket) => {
    socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    const [answer] = await Promise.race([
      once(socket, 'data'),
      once(socket, 'close').then(() => ['']),
    ]);
    return String(answer).startsWith('HTTP/1.1 200');
  };

  it('closes connections of an address beyond three quarters of the limit', async () => {
    await serve();
    const idle: Socket[] = [];
    for (let count = 0; count < 6; count++) idle.push(await open('127.0.0.1'));
    await eventually(() => expect(suite.http.server.connections()).to.equal(6));
    expect(await isServed(await open('127.0.0.1'))).to.equal(false);
    for (let count = 0; count < 2; count++)
      expect(await isServed(await open('127.0.0.2'))).to.equal(true);

    idle[0]!.destroy();
    idle[1]!.destroy();
    await eventually(() => expect(suite.http.server.connections()).to.equal(6));
    // The first address is still above its share, although connections are free.
    expect(await isServed(await open('127.0.0.1'))).to.equal(false);
    expect(await isServed(await open('127.0.0.3'))).to.equal(true);
  });

  it('does not limit the address of a trusted proxy', async () => {
    await serve({ trustedProxies: parseTrustedProxies(['127.0.0.1']) });
    for (let count = 0; count < 8; count++)
      expect(await isServed(await open('127.0.0.1'))).to.equal(true);
  });
});
