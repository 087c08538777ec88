// A server that speaks HTTP and HTTPS on one port and sends an HSTS header, and a Chrome that
// trusts its certificate.
import { createHash, X509Certificate } from 'node:crypto';
import { chmodSync, writeFileSync } from 'node:fs';
import { createServer as createWeb, type RequestListener } from 'node:http';
import { createServer as createTls } from 'node:https';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { selfSigned } from './certificate.ts';

const TLS_HANDSHAKE = 0x16;

export interface HstsServer {
  port: number;
  /** `http /path` or `https /path`, in order. */
  requests: string[];
  /** A Chrome that accepts the certificate of this server. */
  executable: string;
  close(): Promise<void>;
}

/**
 * Makes `folder` readable by all users, because Chrome runs as another user. Throws when openssl
 * is not installed.
 */
export async function startHstsServer(
  name: string,
  folder: string,
  chrome: string,
): Promise<HstsServer> {
  chmodSync(folder, 0o755);
  const { key, cert } = selfSigned(folder, [`DNS:${name}`]);
  const spki = new X509Certificate(cert).publicKey.export({ type: 'spki', format: 'der' });
  const pin = createHash('sha256').update(spki).digest('base64');
  const executable = `${folder}/chrome`;
  writeFileSync(
    executable,
    `#!/bin/sh\nexec "${chrome}" --ignore-certificate-errors-spki-list=${pin} "$@"\n`,
    { mode: 0o755 },
  );

  const requests: string[] = [];
  const answer =
    (scheme: string): RequestListener =>
    ({ url }, response) => {
      requests.push(`${scheme} ${url}`);
      response
        .writeHead(200, {
          'content-type': 'text/html',
          'strict-transport-security': 'max-age=3600',
        })
        .end(`<h1>${scheme}</h1>`);
    };
  const plain = createWeb(answer('http'));
  const secure = createTls({ key, cert }, answer('https'));
  const open = (inner: Server) =>
    new Promise<number>(resolve =>
      inner.listen(0, '127.0.0.1', () => resolve((inner.address() as AddressInfo).port)),
    );
  const [plainPort, securePort] = await Promise.all([open(plain), open(secure)]);
  const sockets = new Set<Socket>();
  const keep = (socket: Socket, other?: Socket) => {
    sockets.add(socket);
    socket
      .on('error', () => {})
      .on('close', () => {
        sockets.delete(socket);
        other?.destroy();
      });
  };
  const front = createServer(socket => {
    keep(socket);
    socket.once('data', first => {
      const inner = connect(
        (first as Buffer)[0] === TLS_HANDSHAKE ? securePort : plainPort,
        '127.0.0.1',
      );
      keep(inner, socket);
      inner.write(first);
      socket.pipe(inner).pipe(socket);
    });
  });
  return {
    port: await open(front),
    requests,
    executable,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await Promise.all(
        [front, plain, secure].map(each => new Promise(resolve => each.close(resolve))),
      );
    },
  };
}
