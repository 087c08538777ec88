// The attacker's site over HTTP/2 and TLS, with the Chrome that trusts its certificate: what
// servers can ask of browsers only there.
import { createHash, X509Certificate } from 'node:crypto';
import { chmodSync, writeFileSync } from 'node:fs';
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { selfSigned } from '../servers/certificate.ts';

export interface TlsSite {
  port: number;
  /** What was asked for, as `:authority` and path, in order. */
  requests: string[];
  /** A Chrome that accepts the certificate, as if an authority had signed it. */
  executable: string;
  close(): Promise<void>;
}

/**
 * Serves `page` for every path, to all names below `name`. `folder` may be read by everybody:
 * Chrome runs as another user. Throws when there is no openssl.
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
  // An ORIGIN frame (RFC 8336) says that this connection speaks for the other names too.
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
