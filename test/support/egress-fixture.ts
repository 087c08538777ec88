// Fixture of the egress guard tests: a guard, a DNS server, victims on loopback and a client that
// uses the proxy as Chrome does.
import { once } from 'node:events';
import {
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestOptions,
  request,
  type ServerResponse,
  createServer as webServer,
} from 'node:http';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { silentLog } from '../../common/log.ts';
import type { EgressDenied } from '../../common/protocol.ts';
import type { EgressPolicy } from '../../common/ticket.ts';
import { parseAllowList } from '../../worker/egress/allow-list.ts';
import type { EgressConfig } from '../../worker/egress/guard.ts';
import { type EgressProxy, openEgressProxy } from '../../worker/egress/proxy.ts';
import { type DnsServer, startDnsServer } from './servers/dns-server.ts';

export interface Victim {
  port: number;
  /** Number of connections so far. Must not grow when the guard blocks. */
  connections: number;
  sockets: Set<Socket>;
  server: Server;
}

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  rawHeaders: string[];
  body: string;
}

export interface Tunnel {
  status: number;
  headers: IncomingHttpHeaders;
  socket: Socket;
  /** Everything the tunnel delivers until it ends. */
  rest: Promise<string>;
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const read = async (stream: AsyncIterable<Buffer>) => {
  let text = '';
  for await (const chunk of stream) text += chunk;
  return text;
};

/** `close` ends everything the fixture has opened. */
export async function egressFixture() {
  const closers: (() => unknown)[] = [];
  const dns: DnsServer = await startDnsServer();
  closers.push(() => dns.close());

  async function serve(server: Server, host: string): Promise<Victim> {
    const victim: Victim = { port: 0, connections: 0, sockets: new Set(), server };
    server.on('connection', socket => {
      victim.connections += 1;
      victim.sockets.add(socket);
      socket.on('error', () => {}).on('close', () => victim.sockets.delete(socket));
    });
    await new Promise<void>((resolve, reject) =>
      server.once('error', reject).listen(0, host, resolve),
    );
    victim.port = (server.address() as AddressInfo).port;
    closers.push(async () => {
      for (const socket of victim.sockets) socket.destroy();
      await new Promise(resolve => server.close(resolve));
    });
    return victim;
  }

  /** Starts an HTTP server on loopback. */
  const web = (
    handler: Handler = (_request, response) => response.end('the inside'),
    host = '127.0.0.1',
  ) => serve(webServer(handler), host);
  /** Starts a TCP server on loopback. Without a handler it echoes. */
  const tcp = (
    handler: (socket: Socket) => void = socket => socket.pipe(socket),
    host = '127.0.0.1',
  ) => serve(createServer(handler), host);

  /** Starts a guard with default settings, short timeouts and the DNS server of this fixture. */
  async function guard(
    policy: EgressPolicy | undefined,
    allow: string[],
    config: Partial<EgressConfig> = {},
    log = silentLog,
  ) {
    const defaults = {
      ports: [80, 443],
      dnsServers: [dns.address],
      dnsTimeoutMs: 400,
      connectTimeoutMs: 2_000,
      idleTimeoutMs: 10_000,
    };
    const bounds = { maxBytes: 100 * 2 ** 20, maxRequests: 500, maxConnections: 50 };
    const opened: EgressProxy = await openEgressProxy(
      { ...defaults, ...bounds, allow: parseAllowList(allow), deny: [], ...config },
      log,
    );
    closers.push(() => opened.close());
    const denied: EgressDenied[] = [];
    opened.onDenied(each => denied.push(each));
    const refused: string[] = [];
    const timedOut: string[] = [];
    opened.onUnreachable(({ host, port }, how) =>
      (how === 'refused' ? refused : timedOut).push(`${host}:${port}`),
    );
    if (policy) opened.admit(policy);
    return {
      ...opened,
      denied,
      refused,
      timedOut,
      reasons: () => denied.map(({ host, port, reason }) => `${host}:${port} ${reason}`),
    };
  }

  /** Opens a raw connection to the port of a guard. */
  async function raw(port: number): Promise<Socket> {
    const socket = connect(port, '127.0.0.1');
    closers.push(() => socket.destroy());
    socket.on('error', () => {});
    await once(socket, 'connect');
    return socket;
  }

  /** Sends a plain request through the guard. Rejects when the guard drops the connection. */
  function get(
    port: number,
    url: string,
    { body, ...options }: RequestOptions & { body?: string } = {},
  ): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const outgoing = request({ host: '127.0.0.1', port, path: url, agent: false, ...options });
      outgoing.on('error', reject);
      outgoing.on('response', response => {
        const { statusCode: status = 0, headers, rawHeaders } = response;
        read(response).then(text => resolve({ status, headers, rawHeaders, body: text }), reject);
      });
      outgoing.end(body);
    });
  }

  /** Sends a CONNECT through the guard. Resolves with any response. */
  async function open(port: number, authority: string): Promise<Tunnel> {
    const outgoing = request({
      host: '127.0.0.1',
      port,
      method: 'CONNECT',
      path: authority,
      agent: false,
    });
    outgoing.end();
    const [response, socket, head] = (await once(outgoing, 'connect')) as [
      IncomingMessage,
      Socket,
      Buffer,
    ];
    closers.push(() => socket.destroy());
    socket.on('error', () => {});
    if (head.length > 0) socket.unshift(head);
    const rest = read(socket).catch(() => '(cut)');
    return { status: response.statusCode!, headers: response.headers, socket, rest };
  }

  /**
   * The outcome of a plain request: its status, or `dropped` when the guard closed the connection
   * without a response.
   */
  const outcome = (port: number, url: string) =>
    get(port, url).then(
      ({ status }) => String(status),
      (error: NodeJS.ErrnoException) => (error.code === 'ECONNRESET' ? 'dropped' : String(error)),
    );

  const close = async () => {
    for (const closer of closers.reverse()) await closer();
  };
  return { dns, web, tcp, guard, raw, get, open, outcome, close };
}

export type EgressFixture = Awaited<ReturnType<typeof egressFixture>>;
