// TLS to the workers: a loopback port for each `wss://` worker, forwarded to it over TLS.
// chrome-remote-interface opens its own socket and accepts no TLS options. Node has no default
// client certificate, and `tls.setDefaultCACertificates` would trust the workers' CA on every
// connection of the process. A slot still needs a ticket.
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { connect } from 'node:tls';
import { listen, type Service } from '../../common/lifecycle.ts';
import type { Log } from '../../common/log.ts';

export interface WorkersTls {
  /** PEM. Default for `ca`: the certificates that Node trusts. */
  ca: string | undefined;
  cert: string | undefined;
  key: string | undefined;
}

export interface TlsTunnels extends Service {
  /** Where to connect to for this worker; an address that is not `wss://` is its own. */
  reach(address: string): string;
}

export function createTlsTunnels(
  addresses: readonly string[],
  tls: WorkersTls,
  log: Log,
): TlsTunnels {
  const tunnels = new Map<string, Server>();
  const sockets = new Set<Socket>();

  function forward(near: Socket, address: string): void {
    const { hostname, port } = new URL(address);
    const host = hostname.replace(/^\[|\]$/g, '');
    const far = connect({ host, port: Number(port), servername: host, ...tls });
    let failed = false;
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', error => {
        if (socket === far && !failed)
          log.warn({ worker: address, err: error }, 'the TLS connection to a worker failed');
        failed = true;
      });
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  }

  async function open(address: string): Promise<void> {
    const server = createServer(socket => forward(socket, address));
    await listen(server, 0, '127.0.0.1', error => log.error({ err: error }, 'a TLS tunnel failed'));
    tunnels.set(address, server);
  }

  return {
    name: 'TLS to the workers',
    reach: address => {
      const server = tunnels.get(address);
      return server ? `ws://127.0.0.1:${(server.address() as AddressInfo).port}` : address;
    },
    start: async () => {
      await Promise.all(addresses.filter(address => address.startsWith('wss:')).map(open));
    },
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await Promise.all(
        [...tunnels.values()].map(server => new Promise(resolve => server.close(resolve))),
      );
    },
  };
}
