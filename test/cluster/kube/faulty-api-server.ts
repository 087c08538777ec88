// A proxy in front of an API server that injects faults: delays, missing responses, errors, and
// watches that break, expire or receive nothing.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Agent, createServer, request as forward } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Cluster } from './cluster.ts';

export interface ApiCall {
  method: string;
  /** Such as `/apis/apps/v1/namespaces/default/deployments/one`. */
  path: string;
  query: URLSearchParams;
  /** True for a watch. */
  watch: boolean;
}

export type Fault =
  /** Forwards the call after a delay. */
  | { delayMs: number }
  /** Accepts the call and never responds, until the client times out or `heal` breaks it. */
  | 'silence'
  /**
   * Resets the connection before the API server receives the call, or after it has processed it.
   */
  | 'reset'
  | 'reset-after'
  /** Returns an error response as the API server does: 429 with Retry-After, 500, 410, 403 … */
  | { status: number; reason: string; retryAfterSeconds?: number };

export interface FaultRule {
  /** Selects calls. Defaults to all. */
  matches?(call: ApiCall): boolean;
  do: Fault;
  /** Number of calls to affect. Defaults to all until the rule is removed. */
  times?: number;
}

export interface FaultyApiServer {
  /** URL of the proxy, for `userKubeconfig` and `kubeconfigOf` of a cluster. */
  readonly server: string;
  /** Adds a rule. The first matching rule applies. */
  rule(rule: FaultRule): { hits(): number; remove(): void };
  /** Resets the connections of all open watches. Returns their number. */
  cutWatches(): number;
  /**
   * Sends a 410 event to all open watches and ends them, as if their version had expired. Returns
   * their number.
   */
  expireWatches(): number;
  /** Open watches receive nothing more and stay open until `heal`. Returns their number. */
  silenceWatches(): number;
  /** The open watches. */
  watches(): ApiCall[];
  /** All calls so far, in order. */
  calls(): readonly ApiCall[];
  /** Removes all rules and breaks unanswered calls and silenced watches. */
  heal(): void;
  close(): Promise<void>;
}

interface Watch {
  call: ApiCall;
  response: ServerResponse;
  upstream: IncomingMessage;
  silent: boolean;
}

const statusObject = (code: number, reason: string) => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message: `${reason}, by the tests`,
  reason,
  code,
});

/** Uses a certificate for 127.0.0.1 of the cluster CA, and forwards the tokens of clients. */
export async function faultyApiServer({
  admin,
  authority,
}: Pick<Cluster, 'admin' | 'authority'>): Promise<FaultyApiServer> {
  const { certFile, keyFile } = await authority.issue('faulty', {
    name: 'faulty',
    hosts: ['127.0.0.1'],
  });
  const agent = new Agent({ ca: readFileSync(admin.caFile), keepAlive: true });
  const rules: (FaultRule & { hits: number })[] = [];
  const watches = new Set<Watch>();
  const silent = new Set<Socket>();
  /** TCP sockets by client port. A TLS socket cannot be reset. */
  const sockets = new Map<number, Socket>();
  const reset = (socket: Socket | null) => sockets.get(socket?.remotePort ?? 0)?.resetAndDestroy();
  const timers = new Set<NodeJS.Timeout>();
  const calls: ApiCall[] = [];

  function pass(
    call: ApiCall,
    request: IncomingMessage,
    response: ServerResponse,
    thenReset = false,
  ): void {
    const { method, url, headers } = request;
    const onward = forward(
      `${admin.server}${url}`,
      { method: method!, headers, agent },
      upstream => {
        if (thenReset) {
          upstream.on('error', () => {}).once('close', () => reset(response.socket));
          upstream.resume();
          return;
        }
        const watch: Watch = { call, response, upstream, silent: false };
        // A partial response must break for the client too.
        upstream.once('error', () => watch.silent || response.destroy());
        response.writeHead(upstream.statusCode!, upstream.headers);
        response.flushHeaders();
        upstream.pipe(response);
        if (call.watch) {
          watches.add(watch);
          response.once('close', () => watches.delete(watch));
        }
      },
    );
    onward.on('error', () => response.destroy());
    response.once('close', () => onward.destroy());
    request.pipe(onward);
  }

  function respond(
    response: ServerResponse,
    { status, reason, retryAfterSeconds }: Exclude<Fault, string | { delayMs: number }>,
  ): void {
    const retry =
      retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
    response.writeHead(status, { 'content-type': 'application/json', ...retry });
    response.end(JSON.stringify(statusObject(status, reason)));
  }

  function apply(
    fault: Fault | undefined,
    call: ApiCall,
    request: IncomingMessage,
    response: ServerResponse,
  ): void {
    if (fault === undefined) pass(call, request, response);
    else if (fault === 'silence') silent.add(request.socket);
    else if (fault === 'reset') reset(request.socket);
    else if (fault === 'reset-after') pass(call, request, response, true);
    else if ('status' in fault) respond(response, fault);
    else {
      const timer = setTimeout(() => {
        timers.delete(timer);
        if (!response.destroyed) pass(call, request, response);
      }, fault.delayMs);
      timers.add(timer);
    }
  }

  const server = createServer(
    { cert: readFileSync(certFile), key: readFileSync(keyFile) },
    (request, response) => {
      const { pathname: path, searchParams: query } = new URL(request.url!, admin.server);
      const call = {
        method: request.method!,
        path,
        query,
        watch: ['true', '1'].includes(query.get('watch') ?? ''),
      };
      calls.push(call);
      const rule = rules.find(
        ({ matches, hits, times = Number.POSITIVE_INFINITY }) =>
          hits < times && (matches?.(call) ?? true),
      );
      if (rule) rule.hits++;
      apply(rule?.do, call, request, response);
    },
  );
  server.on('connection', (socket: Socket) => {
    const port = socket.remotePort!;
    sockets.set(port, socket);
    socket.on('error', () => {}).once('close', () => sockets.delete(port));
  });
  server.on('secureConnection', socket => {
    socket.on('error', () => {}).once('close', () => silent.delete(socket));
  });
  server.on('tlsClientError', () => {});
  server.requestTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const each = (act: (watch: Watch) => void): number => {
    const open = [...watches];
    open.forEach(act);
    return open.length;
  };
  const heal = () => {
    rules.length = 0;
    for (const socket of silent) socket.destroy();
    each(watch => watch.silent && watch.response.destroy());
  };
  return {
    server: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    rule: given => {
      const rule = { ...given, hits: 0 };
      rules.push(rule);
      return {
        hits: () => rule.hits,
        remove: () => void rules.splice(0, rules.length, ...rules.filter(other => other !== rule)),
      };
    },
    cutWatches: () => each(({ response }) => reset(response.socket)),
    expireWatches: () =>
      each(({ response, upstream }) => {
        upstream.unpipe(response);
        response.end(
          `${JSON.stringify({ type: 'ERROR', object: statusObject(410, 'Expired') })}\n`,
        );
      }),
    silenceWatches: () =>
      each(watch => {
        watch.silent = true;
        watch.upstream.unpipe(watch.response);
      }),
    watches: () => [...watches].map(({ call }) => call),
    calls: () => calls,
    heal,
    close: async () => {
      heal();
      for (const timer of timers) clearTimeout(timer);
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets.values()) socket.destroy();
      agent.destroy();
      await closed;
    },
  };
}
