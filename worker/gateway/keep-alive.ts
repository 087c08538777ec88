// Pings the sockets of the gateway, and closes those that were silent for too long.
import type { WebSocket } from 'ws';
import type { Log } from '../../common/log.ts';
import { SILENCE_MS } from '../../common/protocol.ts';

export class KeepAlive {
  /** When each socket received something last, in ms of a monotonic clock. */
  readonly #receivedAt = new Map<WebSocket, number>();
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  watch(ws: WebSocket): void {
    const received = () => this.#receivedAt.set(ws, performance.now());
    received();
    ws.on('pong', received);
    ws.on('message', received);
    ws.on('error', error => this.#log.debug({ err: error }, 'a socket failed'));
    ws.on('close', () => this.#receivedAt.delete(ws));
  }

  /**
   * A frozen or partitioned API cannot keep a render running past its lease: it is cut off after
   * SILENCE_MS, and seen in time for SLOT_ENDS_MS.
   */
  check(): void {
    const now = performance.now();
    for (const [ws, receivedAt] of this.#receivedAt) {
      if (now - receivedAt > SILENCE_MS) {
        this.#log.warn(
          { silentMs: Math.round(now - receivedAt) },
          'an API was silent for too long and is cut off',
        );
        ws.terminate();
      } else if (ws.readyState === ws.OPEN) ws.ping();
    }
  }
}
