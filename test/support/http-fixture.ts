// Fixture of the HTTP tests: the real application with real accounts and leases, a stubbed render,
// and a client that sends raw bytes.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { pino } from 'pino';
import { createAcceptedKeys } from '../../api/accounts/accepted-keys.ts';
import { createAccountRequests } from '../../api/accounts/account-requests.ts';
import { type AppDeps, createApp } from '../../api/app.ts';
import { serverMetrics } from '../../api/http/access-log.ts';
import { createByteBudget } from '../../api/http/byte-budget.ts';
import { parseTrustedProxies } from '../../api/http/caller.ts';
import { type HttpConfig, HttpServer } from '../../api/http/server.ts';
import type { RenderUseCase } from '../../api/render/render.ts';
import { createMetrics } from '../../common/operations.ts';
import { type LeaseFixture, PEPPERS, plans } from './lease-fixture.ts';

export const PDF = Buffer.from('%PDF-1.7 of the HTTP fixture');

export interface Answer {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: Buffer;
  json: () => {
    error: {
      code: string;
      message: string;
      request_id: string;
      reason?: string;
      doc_url?: string;
    };
  };
}

function parseAnswer(bytes: Buffer): { answer: Answer; rest: Buffer } | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [first = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const headers = Object.fromEntries(
    lines.map(line => [
      line.slice(0, line.indexOf(':')).toLowerCase(),
      line.slice(line.indexOf(':') + 2),
    ]),
  );
  const length = Number(headers['content-length'] ?? 0);
  const rest = bytes.subarray(end + 4);
  if (rest.length < length) return undefined;
  const body = rest.subarray(0, length);
  const status = Number(first.split(' ')[1]);
  return {
    answer: { status, headers, body, json: () => JSON.parse(body.toString()) },
    rest: rest.subarray(length),
  };
}

/** A connection that sends raw bytes and reads responses one by one. */
export async function rawConnection(port: number) {
  const socket: Socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  let received: Buffer = Buffer.alloc(0);
  let wake = Promise.withResolvers<void>();
  let ended = false;
  const failures: Error[] = [];
  const closed = new Promise<void>(resolve => socket.once('close', () => resolve()));
  const notify = () => {
    wake.resolve();
    wake = Promise.withResolvers();
  };
  socket.on('data', chunk => {
    received = Buffer.concat([received, chunk]);
    notify();
  });
  socket.on('error', error => failures.push(error));
  socket.once('end', () => socket.end());
  socket.once('close', () => {
    ended = true;
    notify();
  });
  return {
    socket,
    failures,
    closed,
    send: (bytes: string | Buffer) => socket.write(bytes),
    /** The next response. Cannot parse responses to HEAD. */
    async answer(): Promise<Answer> {
      for (;;) {
        const parsed = parseAnswer(received);
        if (parsed) {
          received = parsed.rest;
          return parsed.answer;
        }
        if (ended)
          throw new Error(`the connection ended after ${JSON.stringify(received.toString())}`);
        await wake.promise;
      }
    },
  };
}

export interface HttpFixtureOptions
  extends Partial<Pick<AppDeps, 'health' | 'body' | 'budget' | 'console' | 'trustedProxies'>> {
  server?: Partial<HttpConfig>;
}

const head = (key: string, bytes: number) =>
  `POST /v1/render HTTP/1.1\nAuthorization: Bearer ${key}\nContent-Type: application/json\nContent-Length: ${bytes}`;
/** Adds the Host header and the empty line. */
const complete = (text: string) => `${text.replaceAll('\n', '\r\n')}\r\nHost: localhost\r\n\r\n`;

/** All headers of a render request, as a connection sends them. */
export const renderHead = (key: string, bytes: number): string => complete(head(key, bytes));

/** `state.during` runs while a render holds its lease. A test may replace it. */
export async function httpFixture(fixture: LeaseFixture, options: HttpFixtureOptions = {}) {
  const lines: Record<string, unknown>[] = [];
  const log = pino(
    { level: 'info' },
    { write: (line: string) => void lines.push(JSON.parse(line)) },
  );
  const leases = await fixture.replica();
  const keys = createAcceptedKeys(fixture.store, {
    plans,
    peppers: PEPPERS,
    pastDueGraceMs: 0,
    billing: 'manual',
    dashboardUrl: 'http://localhost/app',
  });
  const state = { during: async (_signal: AbortSignal): Promise<void> => {} };
  const render: RenderUseCase = async (_request, caller, _memory, signal, trace) => {
    const lease = await leases.admit(caller);
    try {
      await state.during(signal);
      Object.assign(trace.timings, { admit: 1.26, print: 20 });
      return { pdf: PDF, pages: 3, sandbox: false, usage: await leases.settle(lease) };
    } finally {
      leases.release(lease);
    }
  };
  const metrics = createMetrics({ processDefaults: false });
  const earlyFailures: string[] = [];
  const budget = options.budget ?? createByteBudget(2 ** 29);
  const app = createApp({
    publicUrl: 'http://localhost:8080',
    keys,
    requests: createAccountRequests(fixture.store, plans),
    render,
    onEarlyFailure: reason => earlyFailures.push(reason),
    console: options.console,
    budget,
    health: options.health ?? {
      database: ms => fixture.store.ping(ms),
      workers: () => ({ ready: 2, slots: 4 }),
    },
    body: options.body ?? { maxBytes: 1_000_000, silentMs: 10_000, totalMs: 60_000 },
    rules: { ports: [80, 443], allowPorts: [], maxTimeoutMs: 60_000 },
    trustedProxies: options.trustedProxies ?? parseTrustedProxies(['127.0.0.1']),
    logClientAddress: false,
    store: fixture.store,
    plans,
    log,
    metrics,
  });
  const onBroken = serverMetrics(metrics, {
    connections: () => server.connections(),
    bytesInFlight: budget.used,
    maxBytesInFlight: 2 ** 29,
  });
  const config = { host: '127.0.0.1', port: 0, drainDelayMs: 0, ...options.server };
  const server: HttpServer = new HttpServer(config, app, log, onBroken);
  await server.start();
  const connections: Socket[] = [];
  let stopped: Promise<void> | undefined;
  const stop = (deadline = AbortSignal.timeout(5_000)) => {
    stopped ??= server.stop(deadline);
    return stopped;
  };

  const open = async () => {
    const connection = await rawConnection(server.port());
    connections.push(connection.socket);
    return connection;
  };

  return {
    state,
    lines,
    /** Reasons of server-side failures before a render began. */
    earlyFailures,
    leases,
    budget,
    metrics,
    server,
    open,
    stop,
    /** Sends one request on a new connection and reads the response. */
    async ask(head: string, body: string | Buffer = ''): Promise<Answer> {
      const connection = await open();
      connection.send(complete(head));
      connection.send(body);
      const answer = await connection.answer();
      connection.socket.destroy();
      return answer;
    },
    /** The headers of a render request, for `ask`. */
    head,
    async close() {
      for (const socket of connections) socket.destroy();
      await stop();
    },
  };
}
export type HttpFixture = Awaited<ReturnType<typeof httpFixture>>;
