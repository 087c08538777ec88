// The egress guard of one slot: admission, quota, outbound connections, and every socket that was
// opened. The proxy's two paths (forward.ts, tunnel.ts) use it and nothing else.
import { Agent, type AgentOptions, type ClientRequestArgs } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Network } from '../../common/addresses.ts';
import { edge } from '../../common/edge.ts';
import type { Log } from '../../common/log.ts';
import type { EgressPolicy } from '../../common/ticket.ts';
import type { AllowRule } from './allow-list.ts';
import { Denied, type DenyReason } from './decide.ts';
import { createOutbound } from './outbound.ts';
import { type Counts, createQuota } from './quota.ts';
import { createNames, LookupFailed } from './resolve.ts';
import type { Target } from './target.ts';

export interface EgressConfig {
  allow: AllowRule[];
  deny: Network[];
  /** Ports that are open wherever the address is. */
  ports: number[];
  /** `address[:port]`; none means the system's. */
  dnsServers: string[];
  dnsTimeoutMs: number;
  connectTimeoutMs: number;
  idleTimeoutMs: number;
  /** Both ways together, heads included. */
  maxBytes: number;
  maxRequests: number;
  /** Requests in flight and tunnels, together. */
  maxConnections: number;
  /** `http://[user:password@]host[:port]` */
  upstreamProxy?: string;
}

export interface Guard {
  admit(policy: EgressPolicy): void;
  /**
   * Takes the budget of one exchange; the returned function releases it. Throws Denied, which is
   * reported already.
   */
  begin(target: Target): () => void;
  /**
   * A connected socket for this exchange alone. Throws Denied (reported already) or the network's
   * error.
   */
  reach(target: Target, signal: AbortSignal): Promise<Socket>;
  /**
   * Counts bytes of an exchange. False when there are none left: every socket of the guard is gone
   * then.
   */
  spend(bytes: number, target: Target): boolean;
  /** Keeps connections for plain http, each by host and port, and gets new ones from `reach`. */
  agent(): Agent;
  /** A connection on which nothing moves for so long is ended. */
  idleMs: number;
  counts(): Counts;
  /** See edge.ts. */
  edge<A extends unknown[]>(
    handler: (...args: A) => unknown,
    close: (...args: A) => void,
  ): (...args: A) => void;
  /** The socket is destroyed when the guard closes. */
  hold(socket: Socket): void;
  /** Ends look-ups and sockets, and resolves when the last one has closed. */
  close(): Promise<void>;
}

const MAX_IDLE_CONNECTIONS = 8; // kept for plain http beyond the exchanges that are counted

class GuardedAgent extends Agent {
  readonly #reach: (target: Target) => Promise<Socket>;

  constructor(options: AgentOptions, reach: (target: Target) => Promise<Socket>) {
    super(options);
    this.#reach = reach;
  }

  override createConnection(
    to: ClientRequestArgs,
    done?: (error: Error | null, socket: Duplex) => void,
  ): undefined {
    // With an error there is no socket, whatever the type of Node's callback asks for.
    const fail = done as ((error: Error) => void) | undefined;
    this.#reach({ host: to.host!, port: Number(to.port) }).then(
      socket => done?.(null, socket),
      (error: Error) => fail?.(error),
    );
  }
}

/** The sockets of a guard, its clients' and its own: an upgraded one is in no list of node:http. */
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
 * `report` receives every denial and names without an address, `refused` servers that refuse the
 * connection. Resolver and agent are made when a page first needs them. Throws when the upstream
 * proxy is written wrongly.
 */
export function createGuard(
  config: EgressConfig,
  report: (target: Target, reason: DenyReason) => void,
  refused: (target: Target) => void,
  log: Log,
): Guard {
  const names = createNames(config.dnsServers, config.dnsTimeoutMs);
  const outbound = createOutbound(names, config.connectTimeoutMs, config.upstreamProxy);
  const quota = createQuota(config);
  const sockets = createSockets();
  const ending = new AbortController();
  let policy: EgressPolicy | undefined;
  let agent: Agent | undefined;

  const reported = (target: Target, error: unknown) => {
    if (error instanceof Denied) report(target, error.reason);
    else if (error instanceof LookupFailed) report(target, 'unresolved');
    // Only allowed addresses are dialed. With an upstream proxy, the refusal would be the proxy's.
    else if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED' && !config.upstreamProxy)
      refused(target);
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
    admit: wanted => {
      if (policy) throw new Error('a guard serves one render and is admitted once');
      policy = wanted;
    },
    begin,
    reach,
    spend,
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
