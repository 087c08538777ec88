// One end of a plain connection in a test of links: the data that it has received, and how the
// connection ended.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface Peer {
  readonly socket: Socket;
  received(): string;
  /** 'open', 'ended' (it received an end), or the code of the error that broke it. */
  state(): string;
}

function peer(socket: Socket): Peer {
  let received = '';
  let state = 'open';
  socket.on('data', chunk => {
    received += chunk.toString('latin1');
  });
  socket.on('end', () => {
    state = 'ended';
  });
  socket.on('error', (error: NodeJS.ErrnoException) => {
    state = error.code ?? error.message;
  });
  return { socket, received: () => received, state: () => state };
}

/** Connects to a port of loopback; `state` shows the result. It can send after the other end. */
export async function connectPeer(port: number): Promise<Peer> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  const connected = peer(socket);
  await once(socket, 'connect').catch(() => {});
  return connected;
}

/** A server whose connections the test controls. */
export async function startPeers() {
  const peers: Peer[] = [];
  const server = createServer({ allowHalfOpen: true }, socket => {
    peers.push(peer(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    /** In order of arrival. */
    peers,
    close: async () => {
      server.close();
      for (const { socket } of peers) socket.destroy();
      await once(server, 'close');
    },
  };
}
