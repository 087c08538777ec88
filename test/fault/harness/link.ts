// A TCP proxy on loopback between two processes that misbehaves on request, by bytes or by whole
// frames, as networks and dying servers do.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { type Conditions, type Connection, connectThrough, type Way } from './connection.ts';
import type { Fate } from './flow.ts';
import type { Frame, FrameKind } from './frames.ts';

/** Up: from who connects to the target; down: back. */
export type Direction = Way | 'both';

export interface FrameRule {
  direction: Direction;
  /**
   * Looks at a frame when its turn to leave has come: a chunk, a whole MongoDB message, or the
   * unmasked payload of a WebSocket frame (`opcode` tells its kind; pings count as frames too).
   * `before` is the frame that last passed in the other direction on the same connection: for
   * MongoDB's answer the command that it answers (see `commandOf`).
   */
  matches(
    frame: Buffer,
    about: { opcode: number | undefined; before: Buffer | undefined },
  ): boolean;
  /**
   * lose: it vanishes and the connection stays. cut: what came before is sent on, it is not, and
   * both ends see a reset. duplicate: it arrives twice. swallow: from it on the connection is
   * silent both ways, until `heal`. delayMs: it and what follows arrive so much later. rewrite:
   * gives the whole frame that arrives instead; a WebSocket frame's payload, in its own length.
   */
  do:
    | 'lose'
    | 'cut'
    | 'duplicate'
    | 'swallow'
    | { delayMs: number }
    | { rewrite(frame: Buffer): Buffer };
  /** How often it acts; without it, until it is removed. */
  times?: number;
}

export interface Rule {
  /** The frames that it has acted on. */
  hits(): number;
  remove(): void;
}

export interface Link {
  /** Where to connect to instead of the target, on 127.0.0.1. */
  readonly port: number;
  /**
   * A silent partition: what is sent is held, new connections are accepted and reach nobody, no
   * socket closes. A direction of a connection holds 4 MiB of whole frames; then the sender is
   * blocked, as by a full send buffer. Swallowing only 'down' lets connects and bytes through to
   * the target, unanswered.
   */
  swallow(direction?: Direction): void;
  /**
   * Resets what is open; what connects is reset at once. (The kernel accepts first: a caller sees
   * ECONNRESET, not ECONNREFUSED.)
   */
  refuse(): void;
  /** Resets what is open, with all that is held for it. What was set otherwise stays. */
  cut(): void;
  /**
   * From now on all arrives so much later, connects and ends included, also what is held already. 0
   * ends it.
   */
  delay(ms: number, direction?: Direction): void;
  /**
   * Ends all of the above and removes all rules. What is held arrives now, as TCP would send it
   * again; `cut()` before it gives that up instead.
   */
  heal(): void;
  /** The first rule that matches a frame decides. */
  onFrame(rule: FrameRule): Rule;
  /** Those that are open, at least at one end. */
  connections(): number;
  /** Taken from the senders so far, whatever became of it. */
  bytes(): { up: number; down: number };
  /** Closes all sockets; resolves when they are. */
  close(): Promise<void>;
}

const waysOf = (direction: Direction): Way[] =>
  direction === 'both' ? ['up', 'down'] : [direction];

/**
 * Opens a link before a port of 127.0.0.1, or before `host` and `port`. A target that does not
 * listen shows as a reset. `frames` is what passes: with 'mongodb' and 'websocket' a frame is
 * passed on when it is whole, and bytes that are none throw in this process. MongoDB's members
 * compress among each other unless they are started with `--networkMessageCompressors disabled`.
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
