// The egress guard of one slot: admission, quota, outbound connections and all open sockets. The
// proxy's two paths (forward.ts, tunnel.ts) use the network only through it.
import { Agent, type AgentOptions, type ClientRequestArgs } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Network } from '../../common/addresses.ts';
import { edge } from '../../common/edge.ts';
import type { Log } from '../../common/log.ts';
import type { Unreachable } from '../../common/protocol.ts';
import type { EgressPolicy } from '../../common/ticket.ts';
import { Denied, type DenyReason } from './address-rule.ts';
import type { AllowRule } from './allow-list.ts';
import { createOutbound } from './outbound.ts';
import { type Counts, createQuota } from './quota.ts';
import { createNames, LookupFailed } from './resolve.ts';
import type { Target } from './target.ts';

export interface EgressConfig {
  allow: AllowRule[];
  deny: Network[];
  /** Ports that are allowed for all allowed addresses. */
  ports: number[];
  /** `address[:port]`; an empty list means those of the system. */
  dnsServers: string[];
  dnsTimeoutMs: number;
  connectTimeoutMs: number;
  idleTimeoutMs: number;
  /** Sent and received, including headers. */
  maxBytes: number;
  maxRequests: number;
  /** Requests in flight plus open tunnels. */
  maxConnections: number;
  /** `http://[user:password@]host[:port]` */
  upstreamProxy?: string;
}

export interface Guard {
  admit(policy: EgressPolicy): void;
  /**
   * Reserves the budget of one exchange; the returned function releases it. Throws Denied, after
   * reporting it.
   */
  begin(target: Target): () => void;
  /**
   * Opens a connection for this exchange only. Throws Denied, after reporting it, or the network's
   * error.
   */
  reach(target: Target, signal: AbortSignal): Promise<Socket>;
  /**
   * Counts bytes of an exchange. Returns false when the budget is used up; all sockets of the guard
   * are then closed.
   */
  spend(bytes: number, target: Target): boolean;
  /** Reports a server that accepted the connection and did not respond. */
  timedOut(target: Target): void;
  /** Keeps plain HTTP connections by host and port, and opens new ones with `reach`. */
  agent(): Agent;
  /** Idle time after which a connection is closed. */
  idleMs: number;
  counts(): Counts;
  /** See common/edge.ts. */
  edge<A extends unknown[]>(
    handler: (...args: A) => unknown,
    close: (...args: A) => void,
  ): (...args: A) => void;
  /** The socket is destroyed when the guard closes. */
  hold(socket: Socket): void;
  /** Cancels lookups, closes all sockets, and resolves when the last one has closed. */
  close(): Promise<void>;
}

const MAX_IDLE_CONNECTIONS = 8; // kept alive for plain HTTP, in addition to counted exchanges

class GuardedAgent extends Agent {
  readonly #reach: (target: Target) => Promise<Socket>;
  readonly #timeoutMs: number;

  constructor(
    options: AgentOptions & { timeout: number },
    reach: (target: Target) => Promise<Socket>,
  ) {
    super(options);
    this.#timeoutMs = options.timeout;
    this.#reach = reach;
  }

  override createConnection(
    to: ClientRequestArgs,
    done?: (error: Error | null, socket: Duplex) => void,
  ): undefined {
    // Node's callback type requires a socket even for an error, which has none.
    const fail = done as ((error: Error) => void) | undefined;
    this.#reach({ host: to.host!, port: Number(to.port) }).then(
      socket => {
        // Node leaves this to `createConnection` when the request has the agent's timeout.
        socket.setTimeout(this.#timeoutMs);
        done?.(null, socket);
      },
      (error: Error) => fail?.(error),
    );
  }
}

/** All sockets of a guard, inbound and outbound; node:http does not list upgraded ones. */
function createSockets() {
  const open = new Set<Socket>();
  return {
    add(socket: Socket) {
      if (socket.closed) return;
      open.add(socket);
      socket.once('close', () => open.delete(socket));
    },
    cut(): Promise<unknown> {
      const closed = [...open].map(socket => new Promise(resolve => socket.once('close', resolve)));
      for (const socket of open) socket.destroy();
      return Promise.all(closed);
    },
  };
}

/**
 * `report` receives every denial and every name without an address; `unreachable` receives servers
 * that refuse the connection or do not respond. Resolver and agent are created on first use. Throws when the upstream
 * proxy is invalid.
 */
export function createGuard(
  config: EgressConfig,
  report: (target: Target, reason: DenyReason) => void,
  unreachable: (target: Target, how: Unreachable) => void,
  log: Log,
): Guard {
  const names = createNames(config.dnsServers, config.dnsTimeoutMs);
  const outbound = createOutbound(names, config.connectTimeoutMs, config.upstreamProxy);
  const quota = createQuota(config);
  const sockets = createSockets();
  const ending = new AbortController();
  let policy: EgressPolicy | undefined;
  let agent: Agent | undefined;

  // Only allowed addresses are dialed. With an upstream proxy, the proxy itself would refuse.
  const reportNetwork = (target: Target, code: string | undefined) => {
    if (config.upstreamProxy) return;
    if (code === 'ECONNREFUSED') unreachable(target, 'refused');
    if (code === 'ETIMEDOUT') unreachable(target, 'timeout');
  };
  const reported = (target: Target, error: unknown) => {
    if (error instanceof Denied) report(target, error.reason);
    else if (error instanceof LookupFailed) report(target, 'unresolved');
    else reportNetwork(target, (error as NodeJS.ErrnoException).code);
    return error;
  };

  function begin(target: Target) {
    try {
      if (!policy) throw new Denied('closed');
      return quota.begin();
    } catch (error) {
      throw reported(target, error);
    }
  }

  function hold(socket: Socket) {
    if (ending.signal.aborted) socket.destroy();
    sockets.add(socket);
  }

  async function reach(target: Target, signal: AbortSignal) {
    try {
      if (!policy) throw new Denied('closed');
      const rules = { policy, allow: config.allow, deny: config.deny, ports: config.ports };
      const socket = await outbound(target, rules, AbortSignal.any([signal, ending.signal]));
      hold(socket);
      return socket;
    } catch (error) {
      throw reported(target, error);
    }
  }

  function spend(bytes: number, target: Target) {
    if (quota.spend(bytes)) return true;
    void sockets.cut();
    report(target, 'bytes');
    return false;
  }

  return {
    admit: newPolicy => {
      if (policy) throw new Error('a guard serves one render and can be admitted only once');
      policy = newPolicy;
    },
    begin,
    reach,
    spend,
    timedOut: target => unreachable(target, 'timeout'),
    agent: () => {
      const options = {
        keepAlive: true,
        maxFreeSockets: MAX_IDLE_CONNECTIONS,
        timeout: config.idleTimeoutMs,
      };
      agent ??= new GuardedAgent(options, target => reach(target, ending.signal));
      return agent;
    },
    edge: (handler, close) => edge(log, handler, close),
    idleMs: config.idleTimeoutMs,
    counts: quota.counts,
    hold,
    close: async () => {
      ending.abort();
      names.cancel();
      await sockets.cut();
    },
  };
}
