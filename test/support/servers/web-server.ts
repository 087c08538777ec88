// A web server on loopback that pages are rendered from; counts what reaches it. Ends all its
// sockets when it closes.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Page = string | ((request: IncomingMessage, response: ServerResponse) => void);

export interface WebServer {
  port: number;
  /** Paths asked for, in order. */
  requests: IncomingMessage[];
  connections(): number;
  close(): Promise<void>;
}

/**
 * `pages` by path; a text is answered as HTML, everything else is 404. On a free port of 127.0.0.1,
 * unless told otherwise.
 */
export async function startWebServer(
  pages: Record<string, Page>,
  { port = 0, host = '127.0.0.1' } = {},
): Promise<WebServer> {
  let connections = 0;
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    const page = pages[request.url!.split('?')[0]!];
    if (page === undefined)
      response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>NOT FOUND</h1>');
    else if (typeof page === 'string')
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page);
    else page(request, response);
  });
  server.on('connection', () => {
    connections++;
  });
  await new Promise<void>((resolve, reject) =>
    server.once('error', reject).listen(port, host, resolve),
  );
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    connections: () => connections,
    close: () => {
      server.closeAllConnections();
      return new Promise(resolve => server.close(() => resolve()));
    },
  };
}
