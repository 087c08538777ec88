// A TCP proxy before MongoDB that can cut a connection after the server has executed a command and before its answer arrives.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export async function lossyProxy(targetPort: number) {
  let toLose = 0;
  let command = '';
  let lost = 0;
  const sockets = new Set<Socket>();

  const server = createServer(client => {
    const upstream = connect(targetPort, '127.0.0.1');
    let cutAtAnswer = false;
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    client.on('data', bytes => {
      if (toLose > 0 && bytes.includes(command)) {
        toLose -= 1;
        cutAtAnswer = true;
      }
      upstream.write(bytes);
    });
    upstream.on('data', bytes => {
      if (!cutAtAnswer) return client.write(bytes);
      lost += 1;
      return client.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    port: (server.address() as AddressInfo).port,
    /** The answers to the next `count` commands of this name get lost. */
    lose(name: string, count: number): void {
      command = name;
      toLose = count;
      lost = 0;
    },
    lost: () => lost,
    async close() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}
