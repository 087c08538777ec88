// The status sockets of the APIs: sends the status to each API when it changes, and reads the
// announcements of their queues.
import type { WebSocket } from 'ws';
import { edge } from '../../common/edge.ts';
import type { Log } from '../../common/log.ts';
import type { Waiting, WorkerStatus } from '../../common/protocol.ts';
import { readWaiting, SlotOffers } from './slot-offers.ts';

interface Watcher {
  /** The API process. Undefined for the previous release, which sends no name. */
  api: string | undefined;
  /** The last sent status; undefined forces the next one to be sent. */
  sent: string | undefined;
}

export function createStatusSockets(status: () => WorkerStatus, log: Log) {
  const watchers = new Map<WebSocket, Watcher>();
  const unnamedApis = () => [...watchers.values()].filter(({ api }) => api === undefined).length;
  const offers = new SlotOffers(unnamedApis);
  let offersEnd: NodeJS.Timeout | undefined;
  /** Batches the changes of one event-loop turn into one status. */
  let pushes = false;

  function send(ws: WebSocket, watcher: Watcher, now: WorkerStatus): void {
    const offered = watcher.api === undefined ? undefined : offers.offeredTo(watcher.api);
    const report = { ...now, ready: offers.readyFor(watcher.api, now.ready), offered };
    const text = JSON.stringify(report);
    if (text !== watcher.sent && ws.readyState === ws.OPEN)
      ws.send(JSON.stringify({ ...report, sentAtMs: Date.now() }));
    watcher.sent = text;
  }

  /** A slot that is offered to one API is not ready for the others. */
  function sendChanges(): void {
    const now = status();
    const endsMs = offers.offer(now.ready, performance.now());
    clearTimeout(offersEnd);
    if (endsMs !== undefined) offersEnd = setTimeout(push, endsMs - performance.now()).unref();
    for (const [ws, watcher] of watchers) send(ws, watcher, now);
  }

  /** Sends the status at the end of this turn to the APIs for which it has changed. */
  function push(): void {
    if (pushes) return;
    pushes = true;
    setImmediate(() => {
      pushes = false;
      sendChanges();
    });
  }

  function sendNext(): void {
    for (const watcher of watchers.values()) watcher.sent = undefined;
  }

  function announce(api: string, waiting: Waiting | undefined): void {
    offers.announce(api, waiting, performance.now());
    if (status().ready > 0) push();
  }

  return {
    serve(ws: WebSocket, api: string | undefined): void {
      const watcher: Watcher = { api, sent: undefined };
      watchers.set(ws, watcher);
      send(ws, watcher, status());
      ws.on('close', () => {
        watchers.delete(ws);
        if (api !== undefined) announce(api, undefined);
      });
      if (api === undefined) return;
      const onMessage = (data: Buffer) => {
        const message = readWaiting(data);
        if (message) announce(api, message.params);
      };
      ws.on(
        'message',
        edge(log, onMessage, () => ws.terminate()),
      );
    },
    /**
     * Whether that API may claim a ready slot. The slot must be claimed in the same event-loop turn.
     */
    admit(api: string | undefined): boolean {
      if (!offers.admit(api, status().ready, performance.now())) return false;
      // An API counts its claim until the next status. Send it even if a release in the same turn
      // leaves it unchanged.
      sendNext();
      push();
      return true;
    },
    push,
    /** Sends the status to all APIs now. */
    sendAll(): void {
      sendNext();
      sendChanges();
    },
    stop: () => clearTimeout(offersEnd),
  };
}
export type StatusSockets = ReturnType<typeof createStatusSockets>;
