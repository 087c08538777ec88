// A door in front of an API server that misbehaves on request: late answers, none at all, errors,
// watches that break, expire or fall silent.
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
  /** Goes on to the API server so much later. */
  | { delayMs: number }
  /**
   * Is accepted and never answered; a caller's own time limit ends it, or `heal`, which breaks it.
   */
  | 'silence'
  /**
   * The connection is reset. Before the API server has heard of the call, or after it has answered:
   * that was done, and the caller does not know.
   */
  | 'reset'
  | 'reset-after'
  /** Is answered by this door, as the API server answers: 429 with Retry-After, 500, 410, 403 … */
  | { status: number; reason: string; retryAfterSeconds?: number };

export interface FaultRule {
  /** All calls, unless it is told which. */
  matches?(call: ApiCall): boolean;
  do: Fault;
  /** How often it acts; without it, until it is removed. */
  times?: number;
}

export interface FaultyApiServer {
  /**
   * Such as `https://127.0.0.1:16443`. See `userKubeconfig` and `kubeconfigOf` of a cluster, which
   * take it.
   */
  readonly server: string;
  /** The first rule that matches a call decides. */
  rule(rule: FaultRule): { hits(): number; remove(): void };
  /** Resets the connections of all watches that are open. Gives how many. */
  cutWatches(): number;
  /**
   * Says to all watches that are open what the API server says when the version that they began at
   * is too old: 410, in an event; then they end. Gives how many.
   */
  expireWatches(): number;
  /**
   * Watches that are open now hear nothing any more, and are not closed, until `heal`. Gives how
   * many.
   */
  silenceWatches(): number;
  /** Those that are open now. */
  watches(): ApiCall[];
  /** All calls so far, in order. */
  calls(): readonly ApiCall[];
  /**
   * Removes all rules, breaks the calls that were not answered and the watches that were silenced.
   */
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

/**
 * It speaks for 127.0.0.1 with a certificate of the cluster's authority, and passes the callers'
 * tokens on.
 */
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
  /** Below TLS, by the caller's port: only these can be reset. */
  const wires = new Map<number, Socket>();
  const reset = (socket: Socket | null) => wires.get(socket?.remotePort ?? 0)?.resetAndDestroy();
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
        // Half an answer is no answer: its reader must see it break.
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

  function answer(
    response: ServerResponse,
    { status, reason, retryAfterSeconds }: Exclude<Fault, string | { delayMs: number }>,
  ): void {
    const retry =
      retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
    response.writeHead(status, { 'content-type': 'application/json', ...retry });
    response.end(JSON.stringify(statusObject(status, reason)));
  }

  function meet(
    fault: Fault | undefined,
    call: ApiCall,
    request: IncomingMessage,
    response: ServerResponse,
  ): void {
    if (fault === undefined) pass(call, request, response);
    else if (fault === 'silence') silent.add(request.socket);
    else if (fault === 'reset') reset(request.socket);
    else if (fault === 'reset-after') pass(call, request, response, true);
    else if ('status' in fault) answer(response, fault);
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
      meet(rule?.do, call, request, response);
    },
  );
  server.on('connection', (socket: Socket) => {
    const port = socket.remotePort!;
    wires.set(port, socket);
    socket.on('error', () => {}).once('close', () => wires.delete(port));
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
      for (const wire of wires.values()) wire.destroy();
      agent.destroy();
      await closed;
    },
  };
}
