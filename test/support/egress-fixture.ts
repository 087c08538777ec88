// What the tests of the egress guard stand on: a guard, a name server, a victim on loopback, and a
// client that speaks to a proxy as Chrome does.
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
import { type EgressConfig, type EgressProxy, openEgressProxy } from '../../worker/egress/proxy.ts';
import { type DnsServer, startDnsServer } from './servers/dns-server.ts';

export interface Victim {
  port: number;
  /** Connections so far; what none of them may be when the guard refuses. */
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
  /** Everything that comes through until the end. */
  rest: Promise<string>;
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const read = async (stream: AsyncIterable<Buffer>) => {
  let text = '';
  for await (const chunk of stream) text += chunk;
  return text;
};

/** Everything that one suite opens; `close` ends it all. */
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

  /** Serves http on loopback; without a handler it says where it is. */
  const web = (
    handler: Handler = (_request, response) => response.end('the inside'),
    host = '127.0.0.1',
  ) => serve(webServer(handler), host);
  /** Accepts TCP on loopback; without a handler it says everything back. */
  const tcp = (
    handler: (socket: Socket) => void = socket => socket.pipe(socket),
    host = '127.0.0.1',
  ) => serve(createServer(handler), host);

  /** A guard with the installation's defaults, short waits, and this fixture's name server. */
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
    opened.onRefused(({ host, port }) => refused.push(`${host}:${port}`));
    if (policy) opened.admit(policy);
    return {
      ...opened,
      denied,
      refused,
      reasons: () => denied.map(({ host, port, reason }) => `${host}:${port} ${reason}`),
    };
  }

  /** A connection to the guard's port, to write whatever. */
  async function raw(port: number): Promise<Socket> {
    const socket = connect(port, '127.0.0.1');
    closers.push(() => socket.destroy());
    socket.on('error', () => {});
    await once(socket, 'connect');
    return socket;
  }

  /** A plain request through the guard. Rejects when the guard drops the connection. */
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

  /** A CONNECT through the guard, whatever its answer. */
  async function open(port: number, authority: string): Promise<Tunnel> {
    const asking = request({
      host: '127.0.0.1',
      port,
      method: 'CONNECT',
      path: authority,
      agent: false,
    });
    asking.end();
    const [response, socket, head] = (await once(asking, 'connect')) as [
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
   * How a plain request ends: its status, or `dropped` when the guard closed the connection instead
   * of answering.
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
