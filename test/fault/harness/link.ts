// A TCP proxy on loopback between two processes that misbehaves on request, by bytes or by whole
// frames, as networks and dying servers do.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { type Conditions, type Connection, connectThrough, type Way } from './connection.ts';
import type { Fate } from './flow.ts';
import type { Frame, FrameKind } from './frames.ts';

/** Up: from the client to the target; down: back. */
export type Direction = Way | 'both';

export interface FrameRule {
  direction: Direction;
  /**
   * Called before a frame leaves: a chunk, a whole MongoDB message, or the unmasked payload of a
   * WebSocket frame (`opcode` is its type; pings are frames too). `before` is the last frame in the
   * other direction of the connection: for a MongoDB response its command (see `commandOf`).
   */
  matches(
    frame: Buffer,
    about: { opcode: number | undefined; before: Buffer | undefined },
  ): boolean;
  /**
   * lose: drops the frame and keeps the connection. cut: sends what came before, then resets both
   * ends. duplicate: sends it twice. swallow: silences the connection in both directions from this
   * frame on, until `heal`. delayMs: delays it and all later frames. rewrite: returns the frame to
   * send instead; for a WebSocket, a payload of the same length.
   */
  do:
    | 'lose'
    | 'cut'
    | 'duplicate'
    | 'swallow'
    | { delayMs: number }
    | { rewrite(frame: Buffer): Buffer };
  /** How often it applies; default: until it is removed. */
  times?: number;
}

export interface Rule {
  /** The number of frames it has applied to. */
  hits(): number;
  remove(): void;
}

export interface Link {
  /** Where to connect to instead of the target, on 127.0.0.1. */
  readonly port: number;
  /**
   * A silent partition: bytes are held, new connections are accepted but do not reach the target,
   * and no socket closes. Each direction of a connection holds 4 MiB of whole frames; then the
   * sender is blocked, as by a full send buffer. 'down' alone holds only the responses.
   */
  swallow(direction?: Direction): void;
  /**
   * Resets open and new connections. (The kernel accepts first: a client gets ECONNRESET, not
   * ECONNREFUSED.)
   */
  refuse(): void;
  /** Resets open connections and drops their held bytes. Other settings remain. */
  cut(): void;
  /** Delays all bytes, connects and ends, including held bytes. 0 removes the delay. */
  delay(ms: number, direction?: Direction): void;
  /**
   * Resets all of the above and removes all rules. Held bytes are sent now, like TCP
   * retransmissions, unless `cut()` dropped them.
   */
  heal(): void;
  /** The first rule that matches a frame applies. */
  onFrame(rule: FrameRule): Rule;
  /** Connections that are open at one end at least. */
  connections(): number;
  /** Bytes received from the senders so far. */
  bytes(): { up: number; down: number };
  /** Resolves when all sockets are closed. */
  close(): Promise<void>;
}

const waysOf = (direction: Direction): Way[] =>
  direction === 'both' ? ['up', 'down'] : [direction];

/**
 * Opens a link to a port of 127.0.0.1, or to `host` and `port`. A target that does not listen
 * appears as a reset. With `frames` 'mongodb' or 'websocket' only whole frames are passed on, and
 * other bytes throw in this process. MongoDB's members compress their traffic unless they are
 * started with `--networkMessageCompressors disabled`.
 */
export async function openLink(
  target: number | { host: string; port: number },
  frames: FrameKind = 'bytes',
  port = 0,
): Promise<Link> {
  const address = typeof target === 'number' ? { host: '127.0.0.1', port: target } : target;
  const connections = new Set<Connection>();
  const silent = { up: false, down: false };
  const delayMs = { up: 0, down: 0 };
  const bytes = { up: 0, down: 0 };
  let rules: { rule: FrameRule; hits: number }[] = [];
  let refusing = false;

  function fate(way: Way, frame: Frame, before: Frame | undefined): Fate {
    if (rules.length === 0 || !frame.payload) return 'pass';
    const payload = frame.payload();
    const about = { opcode: frame.opcode, before: before?.payload?.() };
    const found = rules.find(
      ({ rule }) => waysOf(rule.direction).includes(way) && rule.matches(payload, about),
    );
    if (!found) return 'pass';
    found.hits += 1;
    if (found.hits === found.rule.times) rules = rules.filter(each => each !== found);
    const { do: action } = found.rule;
    return typeof action === 'object' && 'rewrite' in action
      ? { replacement: frame.with!(action.rewrite(payload)) }
      : action;
  }

  const conditions: Conditions = {
    silent,
    delayMs,
    fate,
    took: (way, count) => {
      bytes[way] += count;
    },
  };
  const forEach = (act: (connection: Connection) => void) => {
    for (const connection of [...connections]) act(connection);
  };

  const server = createServer({ allowHalfOpen: true, noDelay: true }, client => {
    if (refusing) {
      client.on('error', () => {}).resetAndDestroy();
      return;
    }
    const dial = () => connect({ ...address, allowHalfOpen: true, noDelay: true });
    const connection = connectThrough(client, dial, frames, conditions);
    connections.add(connection);
    void connection.closed.then(() => connections.delete(connection));
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');

  return {
    port: (server.address() as AddressInfo).port,
    swallow: (direction = 'both') => {
      for (const way of waysOf(direction)) silent[way] = true;
    },
    refuse: () => {
      refusing = true;
      forEach(connection => connection.reset());
    },
    cut: () => forEach(connection => connection.reset()),
    delay: (ms, direction = 'both') => {
      for (const way of waysOf(direction)) delayMs[way] = ms;
      forEach(connection => connection.step());
    },
    heal: () => {
      rules = [];
      refusing = false;
      for (const way of waysOf('both')) {
        silent[way] = false;
        delayMs[way] = 0;
      }
      forEach(connection => connection.heal());
    },
    onFrame: rule => {
      const own = { rule, hits: 0 };
      rules.push(own);
      return {
        hits: () => own.hits,
        remove: () => {
          rules = rules.filter(each => each !== own);
        },
      };
    },
    connections: () => connections.size,
    bytes: () => ({ ...bytes }),
    close: async () => {
      const gone = [...connections].map(({ closed }) => closed);
      const ended = new Promise<void>(resolve => server.close(() => resolve()));
      forEach(connection => connection.destroy());
      await Promise.all([ended, ...gone]);
    },
  };
}
