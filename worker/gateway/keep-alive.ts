// Pings the gateway's sockets and closes those that are silent for too long.
import type { WebSocket } from 'ws';
import type { Log } from '../../common/log.ts';
import { SILENCE_MS } from '../../common/protocol.ts';

export class KeepAlive {
  /** Time of the last message of each socket, in ms of a monotonic clock. */
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
   * Terminates sockets that are silent for SILENCE_MS, so that a frozen or partitioned API cannot
   * keep a render running beyond its lease (SLOT_ENDS_MS).
   */
  check(): void {
    const now = performance.now();
    for (const [ws, receivedAt] of this.#receivedAt) {
      if (now - receivedAt > SILENCE_MS) {
        this.#log.warn(
          { silentMs: Math.round(now - receivedAt) },
          'closed the connection of an API that did not respond',
        );
        ws.terminate();
      } else if (ws.readyState === ws.OPEN) ws.ping();
    }
  }
}
