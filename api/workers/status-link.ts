// One worker's `/v1/status` socket: connects, reconnects with back-off, and takes silence as death.
// Knows nothing of slots.

import { WebSocket } from 'ws';
import { z } from 'zod';
import type { Log } from '../../common/log.ts';
import { PROTOCOL, type WorkerStatus } from '../../common/protocol.ts';

const count = z.int().min(0);

// Not strict: the next release may add fields.
const shape = z.object({
  protocol: z.int(),
  pool: z.string(),
  capacity: count,
  ready: count,
  offered: count.optional(),
  busy: count,
  warm: z.array(z.string().max(200)).max(1_000).optional(),
  draining: z.boolean(),
  chrome: z.enum(['starting', 'up', 'down']),
  chromeVersion: z.string(),
  release: z.string().max(100).optional(),
  sandbox: z.boolean().optional(),
  sentAtMs: z.number().optional(),
});

/** The status report in a message of `/v1/status`, or undefined when it is invalid. */
export function readStatus(message: unknown): WorkerStatus | undefined {
  if (typeof message !== 'string') return undefined;
  try {
    return shape.safeParse(JSON.parse(message)).data;
  } catch {
    return undefined;
  }
}

/** Why this API must not use the worker, for the log; undefined when it may. */
export function unusableBecause(status: WorkerStatus, pool: string): string | undefined {
  if (status.pool !== pool) return `it belongs to the pool ${status.pool}`;
  if (status.protocol !== PROTOCOL && status.protocol !== PROTOCOL - 1)
    return `it uses protocol ${status.protocol}; supported are ${PROTOCOL - 1} and ${PROTOCOL}`;
  return undefined;
}

/**
 * The delay before a reconnect doubles from the first to the second, minus a random part of up to
 * half.
 */
const BACKOFF_MS = { first: 100, longest: 2_000 };

/** A status report has a few hundred bytes. */
const MAX_STATUS_BYTES = 64 * 1024;

export interface StatusLinkOptions {
  address: string;
  /** Where to connect to for this address. */
  reach(address: string): string;
  /** Called for each connection: a ticket opens one socket, once. */
  ticket(): string;
  silenceMs: number;
  log: Log;
  random(): number;
  onMessage(data: unknown): void;
  /** The socket closed; the worker's state is unknown until the next message. */
  onLost(): void;
  /** A retired link has closed for good. */
  onEnd(): void;
}

export function createStatusLink(options: StatusLinkOptions) {
  const { address, log } = options;
  let socket: WebSocket | undefined;
  let timer: NodeJS.Timeout | undefined;
  let failures = 0;
  let retired = false;
  let closed = false;

  function connect(): void {
    const mine = new WebSocket(
      `${options.reach(address)}/v1/status?ticket=${encodeURIComponent(options.ticket())}`,
      {
        perMessageDeflate: false,
        maxPayload: MAX_STATUS_BYTES,
      },
    );
    socket = mine;
    let received = false;

    const lost = (why: string) => {
      if (socket !== mine) return;
      socket = undefined;
      clearTimeout(timer);
      mine.terminate();
      if (received) log.warn({ worker: address, why }, 'worker disconnected');
      options.onLost();
      retry();
    };
    const resetTimer = () => {
      clearTimeout(timer);
      timer = setTimeout(lost, options.silenceMs, 'silent');
    };

    resetTimer();
    mine.on('message', (data, isBinary) => {
      if (socket !== mine) return;
      received = true;
      failures = 0;
      resetTimer();
      options.onMessage(isBinary ? data : data.toString());
    });
    mine.on('error', () => lost('error'));
    mine.on('close', () => lost('closed'));
  }

  function retry(): void {
    if (retired) {
      closed = true;
      options.onEnd();
      return;
    }
    const longest = Math.min(BACKOFF_MS.first * 2 ** failures, BACKOFF_MS.longest);
    failures = Math.min(failures + 1, 10);
    timer = setTimeout(connect, longest * (1 - options.random() / 2));
  }

  connect();
  return {
    /** No reconnect from now on; a live socket is used until it closes by itself. */
    retire(): void {
      if (closed || retired) return;
      retired = true;
      if (socket) return;
      clearTimeout(timer);
      retry();
    },
    /** Undoes `retire`, unless it has ended. */
    keep(): void {
      retired = false;
    },
    /** Sends it when the socket is open. */
    send(text: string): void {
      if (socket?.readyState === WebSocket.OPEN) socket.send(text);
    },
    close(): void {
      closed = true;
      clearTimeout(timer);
      const last = socket;
      socket = undefined; // its remaining events are ignored
      last?.terminate();
    },
  };
}
export type StatusLink = ReturnType<typeof createStatusLink>;
