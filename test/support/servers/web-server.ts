// A web server on loopback for rendered pages. Records requests and connections.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Page = string | ((request: IncomingMessage, response: ServerResponse) => void);

export interface WebServer {
  port: number;
  /** The requests in order of arrival. */
  requests: IncomingMessage[];
  connections(): number;
  close(): Promise<void>;
}

/**
 * Serves `pages` by path; a string is sent as HTML, unknown paths return 404. Listens on a free
 * port of 127.0.0.1 by default.
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
