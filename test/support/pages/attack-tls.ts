// The site of the attacker over HTTP/2 and TLS, for attacks that need these, and a Chrome that
// trusts its certificate.
import { createHash, X509Certificate } from 'node:crypto';
import { chmodSync, writeFileSync } from 'node:fs';
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { selfSigned } from '../servers/certificate.ts';

export interface TlsSite {
  port: number;
  /** The requests as `:authority` and path, in order. */
  requests: string[];
  /** A Chrome that accepts the certificate. */
  executable: string;
  close(): Promise<void>;
}

/**
 * Serves `page` for every path and all names below `name`. Makes `folder` readable by all users,
 * because Chrome runs as another user. Throws when openssl is not installed.
 */
export async function startTlsSite(
  name: string,
  folder: string,
  chrome: string,
  page: (request: Http2ServerRequest, response: Http2ServerResponse) => void,
): Promise<TlsSite> {
  chmodSync(folder, 0o755);
  const { key, cert } = selfSigned(folder, [`DNS:${name}`, `DNS:*.${name}`]);
  const spki = new X509Certificate(cert).publicKey.export({ type: 'spki', format: 'der' });
  const pin = createHash('sha256').update(spki).digest('base64');
  const executable = `${folder}/chrome`;
  writeFileSync(
    executable,
    `#!/bin/sh\nexec "${chrome}" --ignore-certificate-errors-spki-list=${pin} "$@"\n`,
    { mode: 0o755 },
  );

  const requests: string[] = [];
  const sockets = new Set<Socket>();
  // An ORIGIN frame (RFC 8336) claims the other names for this connection.
  const server = createSecureServer({ key, cert, allowHTTP1: true }, (request, response) => {
    requests.push(`${request.authority}${request.url}`);
    page(request, response);
  });
  server.on('session', session =>
    session.origin(`https://inside.${name}:${(server.address() as AddressInfo).port}`),
  );
  server.on('connection', socket => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  });
  server.on('sessionError', () => {}).on('tlsClientError', () => {});
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    executable,
    close: async () => {
      const closed = new Promise(resolve => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
